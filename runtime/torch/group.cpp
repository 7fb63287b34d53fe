// SPDX-License-Identifier: Apache-2.0
#include "runtime/torch/group.hpp"

#include <algorithm>
#include <utility>

namespace dlrt_torch {
namespace {

std::string describe(const Group::Options& options) {
    std::string text = "group '" + options.name + "' of rank";
    const auto& ranks = options.global_ranks;
    if (ranks.size() == 1) return text + " " + std::to_string(ranks.front());
    const bool are_consecutive = ranks.back() - ranks.front() + 1 ==
                                 static_cast<std::int64_t>(ranks.size());
    if (are_consecutive) {
        return text + "s " + std::to_string(ranks.front()) + " to " + std::to_string(ranks.back());
    }
    text += "s";
    for (const std::int64_t rank : ranks) {
        text += (rank == ranks.front() ? " " : ", ") + std::to_string(rank);
    }
    return text;
}

/// A message without a payload, on its way. One that doesn't come is taken back.
class Signal {
  public:
    enum class Way { send, receive };
    Signal(Way way, std::int32_t peer, std::int32_t tag, dlrt_comm comm) {
        const dlrt_err begun = way == Way::send
                                   ? dlrt_isend(nullptr, 0, DLRT_BYTE, peer, tag, comm, &request_)
                                   : dlrt_irecv(nullptr, 0, DLRT_BYTE, peer, tag, comm, &request_);
        require(begun, "monitored_barrier");
    }
    Signal(Signal&& other) noexcept : request_(std::exchange(other.request_, DLRT_REQUEST_NULL)) {}
    Signal& operator=(Signal&&) = delete;
    ~Signal() {
        if (request_.index == 0) return;
        static_cast<void>(dlrt_cancel(request_));
        static_cast<void>(dlrt_request_free(&request_));
    }
    /// Whether it came in time. Throws Failure.
    [[nodiscard]] bool wait(Clock::time_point until) {
        const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now()).count();
        std::int32_t index = -1;
        const dlrt_err outcome = dlrt_waitany_for(
            1, &request_, std::max<std::int64_t>(left, 0), &index, nullptr
        );
        if (outcome == DLRT_ERR_TIMEOUT && index < 0) return false;
        require(outcome, "monitored_barrier");
        return true;
    }

  private:
    dlrt_request request_ = DLRT_REQUEST_NULL;
};

}  // namespace

Group::Group(Options options, std::shared_ptr<World> world, dlrt_comm comm, dlrt_comm control)
    : options_(std::move(options)),
      world_(std::move(world)),
      comm_(comm),
      control_(control),
      health_(std::make_shared<Health>(describe(options_))) {
}

std::shared_ptr<Group> Group::join(Store store, Options options) {
    const auto size = static_cast<int>(options.global_ranks.size());
    Meeting meeting(std::move(store), options.name, options.rank, size, options.timeout);
    std::shared_ptr<World> world = World::of_group(meeting, options.global_ranks);
    const dlrt_comm comm = world->make_communicator(options.global_ranks, meeting.name());
    dlrt_comm control = DLRT_COMM_NULL;
    require(dlrt_comm_dup(comm, &control), "make group '" + options.name + "'");
    return std::shared_ptr<Group>(new Group(std::move(options), std::move(world), comm, control));
}

Group::~Group() {
    if (!world_->is_open()) return;
    static_cast<void>(dlrt_comm_free(&control_));
    static_cast<void>(dlrt_comm_free(&comm_));
}

void Group::prepare(Plan& plan) {
    health_->require_well(plan.call);
    if (plan.timeout <= Milliseconds(0)) plan.timeout = options_.timeout;
    if (!plan.is_collective()) return;
    plan.sequence = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Group::refuse(const Plan& plan, dlrt_err outcome) const {
    const std::string reason = dlrt_last_error();
    if (!world_->is_open()) {
        throw Failure(
            outcome, std::string(plan.call) + " of " + text() +
                         ": the group has been destroyed, "
                         "or this process was forked from one of its ranks: " +
                         reason
        );
    }
    throw Failure(outcome, std::string(plan.call) + " of " + text() + ": " + reason);
}

void Group::monitored_barrier(Milliseconds timeout, Report report) {
    health_->require_well("monitored_barrier");
    const auto until = Clock::now() + (timeout > Milliseconds(0) ? timeout : options_.timeout);
    // Messages of one that failed must not be taken for those of the next.
    const auto tag = static_cast<std::int32_t>(
        monitored_.fetch_add(1, std::memory_order_relaxed) % 0x40000000U
    );
    if (rank() == 0) {
        gather_arrivals(until, report, tag);
    } else {
        report_arrival(until, tag);
    }
}

void Group::gather_arrivals(Clock::time_point until, Report report, std::int32_t tag) {
    std::vector<Signal> arrivals;
    for (int peer = 1; peer < size(); ++peer) {
        arrivals.emplace_back(Signal::Way::receive, peer, tag, control_);
    }
    std::string absent;
    int absent_count = 0;
    for (int peer = 1; peer < size(); ++peer) {
        if (arrivals[static_cast<std::size_t>(peer - 1)].wait(until)) continue;
        absent += (absent_count++ == 0 ? "" : ", ") +
                  std::to_string(options_.global_ranks[static_cast<std::size_t>(peer)]);
        if (report == Report::first_absent) break;
    }
    if (absent_count != 0) {
        throw Failure(
            DLRT_ERR_TIMEOUT,
            "monitored_barrier of " + text() + ": rank(s) " + absent + " did not come in time"
        );
    }
    std::vector<Signal> answers;
    for (int peer = 1; peer < size(); ++peer) {
        answers.emplace_back(Signal::Way::send, peer, tag, control_);
    }
    for (Signal& answer : answers) static_cast<void>(answer.wait(until));
}

void Group::report_arrival(Clock::time_point until, std::int32_t tag) {
    Signal answer(Signal::Way::receive, 0, tag, control_);
    Signal arrival(Signal::Way::send, 0, tag, control_);
    if (arrival.wait(until) && answer.wait(until)) return;
    throw Failure(
        DLRT_ERR_TIMEOUT, "monitored_barrier of " + text() + ": rank " +
                              std::to_string(options_.global_ranks.front()) +
                              " has not said in time that all have come"
    );
}

}  // namespace dlrt_torch
