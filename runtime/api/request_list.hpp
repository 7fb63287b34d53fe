// SPDX-License-Identifier: Apache-2.0
/// Requests of a caller, one or an array, found behind their handles and completed one by one. A
/// handle is the index (counted from 1) and the generation of the engine's request.
///
/// A request belongs to one thread at a time (dlrt.h), so requests are used in place.
#pragma once

#include "runtime/api/outcome.hpp"
#include "runtime/api/surface.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace dlrt::api {

/// Puts the engine's request behind a handle.
inline void give_request(Request& request, dlrt_request* handle) {
    request.has_handle = true;
    *handle = {request.index + 1, request.generation.load(std::memory_order_relaxed)};
}
/// The ranks that its status will name are those of a communicator whose ranks aren't world ranks.
inline void set_translation(Request& request, GroupRef translation) {
    request.has_translation = translation != nullptr;
    if (request.has_translation) request.translation = std::move(translation);
}

[[nodiscard]] inline bool is_null(dlrt_request handle) {
    return handle.index == 0 && handle.generation == 0;
}

/// Null when it is no handle of a live request.
[[nodiscard]] inline Request* look_up(const Site& site, dlrt_request handle) {
    const std::uint64_t generation = handle.generation;
    const RequestToken token{generation << 32 | (handle.index - 1)};
    Request* const request = site.surface().requests->find(token);
    return request != nullptr && request->has_handle ? request : nullptr;
}

/// Its peer is DLRT_PROC_NULL: complete once active.
[[nodiscard]] inline bool has_no_peer(const Request& request) {
    return request.key.source == no_rank;
}

/// Null or inactive: complete with an empty status.
[[nodiscard]] inline bool is_idle(const Request* request) {
    return request == nullptr || !request->is_started;
}

/// request becomes null for the null handle. Errors: Errc::argument, Errc::request.
Status find_request(const Site& site, const dlrt_request* handle, Request*& request);

/// Writes what the last round of a complete request found.
void write_request_status(const Request& request, dlrt_status* status);

/// Ends the round of a complete request: the handle of one that is not persistent becomes null, and
/// the request is to be released. Returns the operation's own error. REQUIRES: complete.
inline Status end_round(
    const Site& site, dlrt_request* handle, Request& request, dlrt_status* status
) {
    if (status != nullptr) write_request_status(request, status);
    request.is_started = false;
    if (request.persistence == Persistence::once) *handle = DLRT_REQUEST_NULL;
    if (request.error == 0) [[likely]]
        return {};
    return site.pass(outcome_of(request));
}

/// Takes the outcome of a complete request and frees it (the handle becomes null) or makes it
/// inactive. Returns the operation's own error. REQUIRES: complete.
inline Status finish_request(
    const Site& site, dlrt_request* handle, Request& request, dlrt_status* status
) {
    const Status outcome = end_round(site, handle, request, status);
    if (request.persistence == Persistence::once) site.engine().release(&request);
    return outcome;
}

/// Errors: Errc::count when negative, Errc::argument when null with a count.
Status check_array(const Site& site, std::int32_t count, const void* requests);

/// Starts all or, on an error of the caller, none.
dlrt_err start_requests(const char* function, std::span<const dlrt_request> requests);

/// The requests of a list that failed.
struct Failures {
    std::int32_t count = 0;
    std::int32_t first = 0;
    std::string text;  ///< Of the first one: it names the peer and the cause.

    [[gnu::cold]] void add(std::int32_t i) {
        if (count++ != 0) return;
        first = i;
        text = last_error_text();
    }
    /// REQUIRES: count != 0.
    [[gnu::cold]] [[nodiscard]] Status status() const {
        return store_failure(
            Errc::in_status, 0, fmt::format("{} (request {}; {} failed)", text, first, count)
        );
    }
};

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
    [[nodiscard]] bool is_pending(std::int32_t i) const { return requests_[i] != nullptr; }
    [[nodiscard]] std::int32_t pending_count() const { return pending_count_; }
    /// REQUIRES: is_pending(i).
    [[nodiscard]] bool is_complete(std::int32_t i) const {
        return requests_[i]->is_done.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool are_all_complete() const;
    /// False once finish() has taken the same handle at an earlier place. REQUIRES: is_pending(i).
    [[nodiscard]] bool is_live(const Site& site, std::int32_t i) const {
        return !is_idle(look_up(site, handles_[i]));
    }
    /// Null where there is nothing to wait for.
    [[nodiscard]] std::span<Request* const> requests() const {
        return {requests_, static_cast<std::size_t>(count_)};
    }
    /// As finish_request. Errors also: Errc::request when the same handle stood earlier in the
    /// array.
    Status finish(const Site& site, std::int32_t i, dlrt_status* status) const;
    /// Finishes all that are pending; `statuses` may be null. Returns which failed. REQUIRES: all
    /// are complete.
    [[nodiscard]] Failures finish_all(const Site& site, dlrt_status* statuses);

  private:
    static constexpr std::int32_t inline_count = 64;

    static Status fail_twice(const Site& site, std::int32_t i, dlrt_status* status);

    std::int32_t count_ = 0;
    std::int32_t pending_count_ = 0;
    dlrt_request* handles_ = nullptr;
    Request** requests_ = nullptr;
    std::array<Request*, inline_count> inline_requests_;
    std::unique_ptr<Request*[]> more_requests_;
};

}  // namespace dlrt::api
