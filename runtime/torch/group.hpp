// SPDX-License-Identifier: Apache-2.0
/// One process group: a communicator for what its members call, and one for its own messages, so
/// that nothing meets what belongs to another group. Any thread.
#pragma once

#include "runtime/torch/world.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlrt_torch {

class Group {
  public:
    struct Options {
        std::string name;
        std::vector<std::int64_t> global_ranks;  ///< torch's, by rank in the group.
        int rank = 0;
        Milliseconds timeout{0};
    };
    /// Meets the other members in the store. Throws Failure.
    [[nodiscard]] static std::shared_ptr<Group> join(Store store, Options options);
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    /// Begins what `begin(comm, request)` begins. Throws Failure when it doesn't, or when the group
    /// has failed earlier.
    template<typename Begin>
    [[nodiscard]] std::shared_ptr<Operation> start(Plan plan, const Begin& begin) {
        dlrt_request request = DLRT_REQUEST_NULL;
        prepare(plan);
        const dlrt_err outcome = begin(comm_, &request);
        if (outcome != DLRT_OK) [[unlikely]]
            refuse(plan, outcome);
        return std::make_shared<Operation>(std::move(plan), request, world_->completer(), health_);
    }
    /// Rank 0 waits for a message of all others, and they for its answer. Throws Failure with those
    /// who haven't come: the first one, or all of them.
    enum class Report { first_absent, all_absent };
    void monitored_barrier(Milliseconds timeout, Report report);

    [[nodiscard]] int rank() const { return options_.rank; }
    [[nodiscard]] int size() const { return static_cast<int>(options_.global_ranks.size()); }
    [[nodiscard]] const std::string& text() const { return health_->group(); }
    [[nodiscard]] Milliseconds timeout() const { return options_.timeout; }
    void set_timeout(Milliseconds timeout) { options_.timeout = timeout; }
    /// Collectives begun so far.
    [[nodiscard]] std::uint64_t sequence() const {
        return sequence_.load(std::memory_order_relaxed);
    }

  private:
    Group(Options options, std::shared_ptr<World> world, dlrt_comm comm, dlrt_comm control);
    void prepare(Plan& plan);
    [[noreturn]] void refuse(const Plan& plan, dlrt_err outcome) const;
    void gather_arrivals(Clock::time_point until, Report report, std::int32_t tag);
    void report_arrival(Clock::time_point until, std::int32_t tag);

    Options options_;
    std::shared_ptr<World> world_;
    dlrt_comm comm_;
    dlrt_comm control_;
    std::shared_ptr<Health> health_;
    std::atomic<std::uint64_t> sequence_{0};
    std::atomic<std::uint32_t> monitored_{0};
};

}  // namespace dlrt_torch
