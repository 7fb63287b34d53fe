// SPDX-License-Identifier: Apache-2.0
/// What became possible first is done first; ties go to the lower rank and step.
#include "collectives/cost.hpp"

#include "collectives/groups.hpp"
#include "collectives/verify_parts.hpp"
#include "runtime/base/check.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace dlrt::coll {
namespace {

class Simulation {
  public:
    Simulation(const AllSteps& steps, const ChunkSizes& sizes, const Machine& machine)
        : steps_(steps), sizes_(sizes), machine_(machine), states_(steps.count()) {
        const std::span<const Schedule> schedules = steps.schedules();
        place_ranks(schedules);
        Findings findings;
        partners_ = check_pairing(steps, findings);
        DLRT_ASSERT(!findings.has_fault());
        StepId id = 0;
        for (const Schedule& schedule : schedules) {
            for (const std::uint32_t count : schedule.predecessor_counts)
                states_[id++].waits_for = count;
        }
        for (id = 0; id < steps.count(); ++id) {
            // A receive needs the first byte as well.
            if (steps[id].kind == StepKind::recv) ++states_[id].waits_for;
            if (states_[id].waits_for == 0) possible_.emplace(0, id);
        }
    }

    double run() {
        while (!possible_.empty()) {
            const auto [time, id] = possible_.top();
            possible_.pop();
            perform(id, time);
        }
        return end_ns_;
    }

  private:
    struct State {
        double possible_ns = 0;
        double last_byte_ns = 0;  ///< Of a receive: when it is there.
        std::uint32_t waits_for = 0;
    };
    struct Core {
        double free_ns = 0;
        std::size_t rank = no_rank;
    };
    static constexpr std::size_t no_rank = SIZE_MAX;

    void place_ranks(std::span<const Schedule> schedules) {
        const auto size = static_cast<std::int32_t>(schedules.size());
        groups_ = schedules[0].shape.groups;
        const Groups one = Groups::whole(size);
        const Groups& hosts = groups_ != nullptr ? *groups_ : one;
        std::vector<std::uint32_t> firsts, ranks_per_core;  // By host.
        std::uint32_t core_count = 0;
        for (std::int32_t host = 0; host < hosts.count(); ++host) {
            const auto ranks = static_cast<std::uint32_t>(hosts.size_of(host));
            const std::uint32_t cores = machine_.cores == 0 ? ranks
                                                            : std::min(machine_.cores, ranks);
            firsts.push_back(core_count);
            ranks_per_core.push_back((ranks + cores - 1) / cores);
            core_count += cores;
        }
        for (std::int32_t rank = 0; rank < size; ++rank) {
            const auto host = static_cast<std::size_t>(hosts.group_of(rank));
            const std::int32_t number = hosts.position_of(rank) -
                                        hosts.first_of(hosts.group_of(rank));
            core_of_.push_back(
                firsts[host] + static_cast<std::uint32_t>(number) / ranks_per_core[host]
            );
        }
        cores_.resize(core_count);
    }

    struct Link {
        double latency_ns, overhead_ns, gap_ns_per_byte;
    };
    [[nodiscard]] Link link(std::size_t rank, std::int32_t peer) const {
        const bool is_between = groups_ != nullptr &&
                                groups_->group_of(static_cast<std::int32_t>(rank)) !=
                                    groups_->group_of(peer);
        if (!is_between)
            return {machine_.latency_ns, machine_.overhead_ns, machine_.gap_ns_per_byte};
        return {
            machine_.between_latency_ns, machine_.between_overhead_ns,
            machine_.between_gap_ns_per_byte};
    }

    [[nodiscard]] double work_ns(const Step& step, std::size_t rank) const {
        const auto bytes = static_cast<double>(sizes_.size_bytes(step.like, step.length));
        switch (step.kind) {
            case StepKind::send:
            case StepKind::recv: {
                const Link used = link(rank, step.peer);
                return used.overhead_ns + bytes * used.gap_ns_per_byte;
            }
            case StepKind::reduce:
                return bytes * machine_.reduce_ns_per_byte;
            case StepKind::copy:
                return bytes * machine_.copy_ns_per_byte;
        }
        return 0;
    }

    void perform(StepId id, double possible_ns) {
        const Step& step = steps_[id];
        const std::size_t rank = steps_.rank_of(id);
        Core& core = cores_[core_of_[rank]];
        double begin_ns = std::max(possible_ns, core.free_ns);
        if (core.rank != rank && core.rank != no_rank) begin_ns += machine_.switch_ns;
        double end_ns = begin_ns + work_ns(step, rank);
        core = {end_ns, rank};
        if (step.kind == StepKind::send) {
            const Link used = link(rank, step.peer);
            State& receive = states_[partners_[id]];
            receive.last_byte_ns = end_ns + used.latency_ns;
            satisfy(partners_[id], begin_ns + used.overhead_ns + used.latency_ns);
        } else if (step.kind == StepKind::recv) {
            const double overhead_ns = link(rank, step.peer).overhead_ns;
            end_ns = std::max(end_ns, states_[id].last_byte_ns + overhead_ns);
        }
        end_ns_ = std::max(end_ns_, end_ns);
        steps_.for_successors(id, [&](StepId next) { satisfy(next, end_ns); });
    }

    void satisfy(StepId id, double time_ns) {
        State& state = states_[id];
        state.possible_ns = std::max(state.possible_ns, time_ns);
        if (--state.waits_for == 0) possible_.emplace(state.possible_ns, id);
    }

    using Possible = std::pair<double, StepId>;

    const AllSteps& steps_;
    ChunkSizes sizes_;
    Machine machine_;
    std::vector<StepId> partners_;
    std::vector<State> states_;
    std::vector<Core> cores_;
    std::vector<std::uint32_t> core_of_;  ///< By rank.
    const Groups* groups_ = nullptr;
    std::priority_queue<Possible, std::vector<Possible>, std::greater<>> possible_;
    double end_ns_ = 0;
};

}  // namespace

double predict_ns(
    std::span<const Schedule> schedules, std::uint64_t total_bytes, const Machine& machine
) {
    const Schedule& first = schedules[0];
    const ChunkSizes sizes = first.chunk_rule == ChunkRule::split
                                 ? ChunkSizes::split(total_bytes, 1, first.chunk_count)
                                 : ChunkSizes::block(total_bytes / schedules.size());
    const AllSteps steps(schedules);
    return Simulation(steps, sizes, machine).run();
}

}  // namespace dlrt::coll
