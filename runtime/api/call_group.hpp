// SPDX-License-Identifier: Apache-2.0
/// What a thread calls between dlrt_group_start and dlrt_group_end: blocking calls are begun at
/// once as nonblocking operations, and ended together. Not the groups of ranks (groups.cpp).
///
/// Threads: each has its own; the surface counts them, so that who is in none pays one load.
#pragma once

#include "runtime/api/surface.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace dlrt::api {

class CallGroup {
  public:
    /// The calling thread's open one; null outside of any.
    [[nodiscard]] static CallGroup* open(const Surface& surface) {
        if (surface.open_call_groups() == 0) [[likely]]
            return nullptr;
        return find_open();
    }
    /// Opens the calling thread's, or makes it one deeper.
    static void start(const Site& site);
    /// Makes it one less deep; from the outermost, waits for all. Errors: Errc::argument when none
    /// is open; the first one of what was begun, with its own code.
    static Status end(const Site& site);

    /// Takes an operation that has begun; `status` is filled at the end and may be null.
    void add(const Site& site, Request* request, dlrt_status* status);
    void send(const Site& site, SendMode mode, Route to, const ConstBuffer& source);
    /// What a receive reports, in ranks of its communicator.
    struct Report {
        const Communicator& comm;
        dlrt_status* status;
    };
    void recv(const Site& site, Route from, const Buffer& target, const Report& report);
    /// Memory that an operation needs until the end.
    void keep(std::unique_ptr<std::byte[]> memory) { memory_.push_back(std::move(memory)); }

    CallGroup() = default;
    CallGroup(const CallGroup&) = delete;
    CallGroup& operator=(const CallGroup&) = delete;
    /// The thread ends. Operations of a group left open complete by themselves.
    ~CallGroup();

  private:
    struct Operation {
        const char* function;
        dlrt_status* status;
    };

    [[gnu::cold]] static CallGroup* find_open();
    static CallGroup& of_this_thread();
    Status finish(const Site& site);
    void clear();

    const Core* core_ = nullptr;  ///< While open.
    std::size_t depth_ = 0;
    std::vector<Request*> requests_;
    std::vector<Operation> operations_;  ///< One for each request.
    std::vector<std::unique_ptr<std::byte[]>> memory_;
};

/// For calls that make no sense within a group. Errors: Errc::unsupported when one is open.
Status refuse_within_group(const Site& site);

}  // namespace dlrt::api
