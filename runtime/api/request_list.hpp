// SPDX-License-Identifier: Apache-2.0
/// Requests of a caller, one or an array, found behind their handles and completed one by one.
///
/// A request belongs to one thread at a time (dlrt.h), so entries are used in place.
#pragma once

#include "runtime/api/surface.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace dlrt::api {

/// Null or inactive: complete with an empty status.
[[nodiscard]] inline bool is_idle(const RequestEntry* entry) {
    return entry == nullptr || !entry->is_active;
}

/// entry becomes null for the null handle. Errors: Errc::argument, Errc::request.
Status find_request(const Site& site, const dlrt_request* handle, RequestEntry*& entry);

/// Writes what the last round of a complete request found.
void write_request_status(const RequestEntry& entry, dlrt_status* status);

/// Takes the outcome of a complete request and frees it (the handle becomes null) or makes it
/// inactive. Returns the operation's own error. REQUIRES: active and complete.
Status finish_request(
    const Site& site, dlrt_request* handle, RequestEntry& entry, dlrt_status* status
);

/// Errors: Errc::count when negative, Errc::argument when null with a count.
Status check_array(const Site& site, std::int32_t count, const void* requests);

/// Starts all or, on an error of the caller, none.
dlrt_err start_requests(const char* function, std::span<const dlrt_request> requests);

/// An array of requests. Up to `inline_count` need no allocation.
class RequestList {
  public:
    /// Looks up all handles. Errors: as check_array and find_request, naming the place in the
    /// array.
    Status open(const Site& site, std::int32_t count, dlrt_request* handles);
    /// The result parameters of the forms that complete several.
    Status require_results(const Site& site, const std::int32_t* count, const std::int32_t* indices)
        const;

    [[nodiscard]] std::int32_t size() const { return count_; }
    /// Neither null nor inactive when the list was opened.
    [[nodiscard]] bool is_pending(std::int32_t i) const { return entries_[i] != nullptr; }
    [[nodiscard]] std::int32_t pending_count() const { return pending_count_; }
    /// REQUIRES: is_pending(i).
    [[nodiscard]] bool is_complete(std::int32_t i) const {
        return requests_[i] == nullptr || dlrt::is_complete(*requests_[i]);
    }
    [[nodiscard]] bool are_all_complete() const;
    /// False once finish() has taken the same handle at an earlier place. REQUIRES: is_pending(i).
    [[nodiscard]] bool is_live(const Site& site, std::int32_t i) const;
    /// Null where there is nothing to wait for.
    [[nodiscard]] std::span<Request* const> requests() const {
        return {requests_, static_cast<std::size_t>(count_)};
    }
    /// As finish_request. Errors also: Errc::request when the same handle stood earlier in the
    /// array.
    Status finish(const Site& site, std::int32_t i, dlrt_status* status) const;

  private:
    static constexpr std::int32_t inline_count = 64;
    std::int32_t count_ = 0;
    std::int32_t pending_count_ = 0;
    dlrt_request* handles_ = nullptr;
    RequestEntry** entries_ = nullptr;
    Request** requests_ = nullptr;
    std::array<RequestEntry*, inline_count> inline_entries_;
    std::array<Request*, inline_count> inline_requests_;
    std::unique_ptr<RequestEntry*[]> more_entries_;
    std::unique_ptr<Request*[]> more_requests_;
};

}  // namespace dlrt::api
