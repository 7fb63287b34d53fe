// SPDX-License-Identifier: Apache-2.0
/// Bounds and pairing, and the order of all checks: each may rely on the ones before it.
#include "collectives/verify.hpp"

#include "collectives/contract.hpp"
#include "collectives/verify_parts.hpp"

#include <algorithm>
#include <array>

namespace dlrt::coll {
namespace {

constexpr std::uint64_t exact_bytes_max = std::uint64_t{64} << 20;

void check_bounds_of(std::size_t rank, std::span<const Schedule> schedules, Findings& findings) {
    const Schedule& schedule = schedules[rank];
    const Schedule& first = schedules[0];
    if (schedule.shape.rank != static_cast<std::int32_t>(rank) ||
        schedule.collective != first.collective ||
        schedule.shape.size != static_cast<std::int32_t>(schedules.size()) ||
        schedule.shape.root != first.shape.root || schedule.chunk_count != first.chunk_count) {
        findings.report(
            FaultKind::bounds, "the schedule of rank {} belongs to another operation", rank
        );
    }
    std::array<std::uint32_t, 4> limits{};
    for (BufferId buffer : {BufferId::input, BufferId::output, BufferId::scratch})
        limits[static_cast<std::size_t>(buffer)] = buffer_chunks(schedule, buffer);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        for (const Place& place : {step.source, step.right, step.target}) {
            if (place.buffer == BufferId::none) continue;
            const std::uint32_t limit = limits[static_cast<std::size_t>(place.buffer)];
            if (place.chunk + step.length > limit) {
                findings.report(
                    FaultKind::bounds, "rank {} step {}: {} has {} chunks, not {}", rank, i,
                    name_of(place.buffer), limit, place.chunk + step.length
                );
            }
            const bool has_own_size = schedule.chunk_rule == ChunkRule::split &&
                                      place.buffer != BufferId::scratch;
            if (has_own_size && place.chunk != step.like) {
                findings.report(
                    FaultKind::bounds, "rank {} step {}: chunk {} is not like {}", rank, i,
                    place.chunk, step.like
                );
            }
        }
        if (schedule.chunk_rule == ChunkRule::split &&
            step.like + step.length > schedule.chunk_count) {
            findings.report(
                FaultKind::bounds, "rank {} step {}: like chunks beyond the vector", rank, i
            );
        }
        if (step.target.buffer != BufferId::none && !is_writable(step.target.buffer)) {
            findings.report(FaultKind::bounds, "rank {} step {}: writes the input", rank, i);
        }
        const bool has_peer = step.kind == StepKind::send || step.kind == StepKind::recv;
        if (has_peer && (step.peer < 0 || step.peer >= schedule.shape.size ||
                         step.peer == schedule.shape.rank)) {
            findings.report(FaultKind::bounds, "rank {} step {}: no peer {}", rank, i, step.peer);
        }
    }
}

/// One end of a message.
struct End {
    std::int32_t from, to;
    std::uint16_t lane;
    std::uint32_t order;
    StepId id;
    [[nodiscard]] std::uint64_t pair() const {
        return static_cast<std::uint64_t>(to) << 32 | static_cast<std::uint32_t>(from);
    }
    [[nodiscard]] std::uint64_t place() const {
        return static_cast<std::uint64_t>(lane) << 32 | order;
    }
    [[nodiscard]] auto key() const { return std::pair(pair(), place()); }
};

/// Stable, by counting.
void sort_by(std::vector<End>& ends, std::size_t rank_count, std::int32_t End::*rank) {
    std::vector<std::size_t> begins(rank_count + 1, 0);
    for (const End& end : ends) ++begins[static_cast<std::size_t>(end.*rank) + 1];
    for (std::size_t i = 0; i < rank_count; ++i) begins[i + 1] += begins[i];
    std::vector<End> sorted(ends.size());
    for (const End& end : ends) sorted[begins[static_cast<std::size_t>(end.*rank)]++] = end;
    ends = std::move(sorted);
}

/// By key. Those of one pair are in their order already, as long as they use one lane.
void sort_ends(std::vector<End>& ends, std::size_t rank_count) {
    sort_by(ends, rank_count, &End::from);
    sort_by(ends, rank_count, &End::to);
    for (auto begin = ends.begin(); begin != ends.end();) {
        const auto end = std::find_if(begin, ends.end(), [&](const End& other) {
            return other.pair() != begin->pair();
        });
        if (!std::is_sorted(begin, end, [](const End& left, const End& right) {
                return left.place() < right.place();
            })) {
            std::ranges::sort(begin, end, {}, &End::place);
        }
        begin = end;
    }
}

std::optional<Fault> find_fault_with(
    std::span<const Schedule> schedules, Proof proof, Expressions& expressions
) {
    const AllSteps steps(schedules);
    Findings findings;
    check_bounds(steps, findings);
    if (findings.has_fault()) return std::move(findings).take();
    const std::vector<StepId> partners = check_pairing(steps, findings);
    if (findings.has_fault()) return std::move(findings).take();
    const std::vector<StepId> order = check_deadlock(steps, partners, findings);
    for (const Schedule& schedule : schedules) check_races(schedule, findings);
    for (const Schedule& schedule : schedules) check_window(schedule, findings);
    if (findings.has_fault()) return std::move(findings).take();
    const Execution execution{order, partners};
    if (schedules[0].collective == Collective::barrier) {
        check_barrier(steps, execution, findings);
    } else if (proof == Proof::exact) {
        check_values_exactly(steps, execution, expressions, findings);
    } else {
        check_values_at_random(steps, execution, findings);
    }
    return std::move(findings).take();
}

}  // namespace

AllSteps::AllSteps(std::span<const Schedule> schedules) : schedules_(schedules) {
    std::size_t step_count = 0, edge_count = 0;
    for (const Schedule& schedule : schedules) {
        step_count += schedule.steps.size();
        edge_count += schedule.successors.size();
    }
    base_.reserve(schedules.size() + 1);
    ranks_.reserve(step_count);
    steps_.reserve(step_count);
    successor_begin_.reserve(step_count + 1);
    successors_.reserve(edge_count);
    for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
        const Schedule& schedule = schedules[rank];
        const StepId base = count();
        const auto first = static_cast<std::uint32_t>(successors_.size());
        base_.push_back(base);
        ranks_.insert(ranks_.end(), schedule.steps.size(), rank);
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            steps_.push_back(&schedule.steps[i]);
            successor_begin_.push_back(first + schedule.successor_begin[i]);
        }
        for (const std::uint32_t next : schedule.successors) successors_.push_back(base + next);
    }
    base_.push_back(count());
    successor_begin_.push_back(static_cast<std::uint32_t>(successors_.size()));
}

void check_bounds(const AllSteps& steps, Findings& findings) {
    const std::span<const Schedule> schedules = steps.schedules();
    for (std::size_t rank = 0; rank < schedules.size() && !findings.has_fault(); ++rank)
        check_bounds_of(rank, schedules, findings);
}

std::vector<StepId> check_pairing(const AllSteps& steps, Findings& findings) {
    const std::span<const Schedule> schedules = steps.schedules();
    std::vector<StepId> partners(steps.count(), no_step);
    std::vector<End> sends, recvs;
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        const auto self = static_cast<std::int32_t>(rank);
        for (std::size_t i = 0; i < schedules[rank].steps.size(); ++i) {
            const Step& step = schedules[rank].steps[i];
            const StepId id = steps.first_of(rank) + static_cast<StepId>(i);
            if (step.kind == StepKind::send)
                sends.push_back({self, step.peer, step.lane, step.order, id});
            if (step.kind == StepKind::recv)
                recvs.push_back({step.peer, self, step.lane, step.order, id});
        }
    }
    sort_ends(sends, schedules.size());
    sort_ends(recvs, schedules.size());
    for (std::size_t i = 1; i < sends.size(); ++i) {
        if (sends[i - 1].key() != sends[i].key()) continue;
        findings.report(
            FaultKind::pairing, "rank {} numbers two sends to rank {} alike", sends[i].from,
            sends[i].to
        );
    }
    for (std::size_t i = 0; i < std::max(sends.size(), recvs.size()); ++i) {
        const bool is_lone_send = i >= recvs.size() ||
                                  (i < sends.size() && sends[i].key() < recvs[i].key());
        const bool is_lone_recv = i >= sends.size() ||
                                  (i < recvs.size() && recvs[i].key() < sends[i].key());
        if (is_lone_send || is_lone_recv) {
            const End& end = is_lone_send ? sends[i] : recvs[i];
            findings.report(
                FaultKind::pairing, "a {} from rank {} to rank {} in lane {} has no partner",
                is_lone_send ? "send" : "receive", end.from, end.to, end.lane
            );
            return partners;
        }
        const Step& send = steps[sends[i].id];
        const Step& recv = steps[recvs[i].id];
        if (send.length != recv.length || send.like != recv.like) {
            findings.report(
                FaultKind::pairing, "rank {} sends {} chunks like {}, rank {} receives {} like {}",
                sends[i].from, send.length, send.like, sends[i].to, recv.length, recv.like
            );
            return partners;
        }
        partners[sends[i].id] = recvs[i].id;
        partners[recvs[i].id] = sends[i].id;
    }
    return partners;
}

Proof affordable_proof(std::span<const Schedule> schedules) {
    // Every chunk of an input, and every reduction of one, may be an expression.
    std::uint64_t expressions = 0;
    for (const Schedule& schedule : schedules) {
        expressions += schedule.chunk_count;
        for (const Step& step : schedule.steps) {
            if (step.kind == StepKind::reduce) expressions += step.length;
        }
    }
    const std::uint64_t set_bytes = (schedules.size() + 63) / 64 * 8;
    return expressions <= exact_bytes_max / set_bytes ? Proof::exact : Proof::random;
}

std::optional<Fault> find_fault(std::span<const Schedule> schedules, Proof proof) {
    Expressions expressions(static_cast<std::int32_t>(schedules.size()));
    return find_fault_with(schedules, proof, expressions);
}

RootProver::RootProver() = default;
RootProver::~RootProver() = default;

std::optional<Fault> RootProver::find_fault(std::span<const Schedule> schedules, Proof proof) {
    if (is_turned(proven_, schedules)) return std::nullopt;
    if (!expressions_ || expressions_->size_bytes() > exact_bytes_max)
        expressions_ = std::make_unique<Expressions>(static_cast<std::int32_t>(schedules.size()));
    auto fault = find_fault_with(schedules, proof, *expressions_);
    if (!fault && proven_.empty()) proven_.assign(schedules.begin(), schedules.end());
    return fault;
}

}  // namespace dlrt::coll
