// SPDX-License-Identifier: Apache-2.0
/// Runs the steps on the names of blocks, and compares what arrived with the edges.
#include "collectives/verify_neighbours.hpp"

#include "collectives/contract.hpp"
#include "collectives/verify_parts.hpp"
#include "runtime/base/check.hpp"

#include <map>
#include <tuple>

namespace dlrt::coll {
namespace {

/// A block of a rank's input.
struct Block {
    std::int32_t rank = no_neighbour;
    std::uint32_t chunk = 0;
    friend bool operator==(const Block&, const Block&) = default;
};
using Outputs = std::vector<std::vector<Block>>;  ///< By rank, then by source.

/// What the edges say. The k-th of one end is the k-th of the other.
Outputs outputs_by_edges(
    Collective collective, std::span<const Neighbours> neighbours, Findings& findings
) {
    struct Edges {
        std::vector<std::uint32_t> sent;
        std::size_t received_count = 0;
    };
    std::map<std::tuple<std::int32_t, std::int32_t, std::uint16_t>, Edges> edges;
    for (std::size_t rank = 0; rank < neighbours.size(); ++rank) {
        const std::vector<Link>& targets = neighbours[rank].targets;
        for (std::uint32_t i = 0; i < targets.size(); ++i) {
            if (targets[i].rank == no_neighbour) continue;
            const auto from = static_cast<std::int32_t>(rank);
            const std::uint32_t chunk = collective == Collective::neighbor_allgather ? 0 : i;
            edges[{from, targets[i].rank, targets[i].lane}].sent.push_back(chunk);
        }
    }
    Outputs outputs(neighbours.size());
    for (std::size_t rank = 0; rank < neighbours.size(); ++rank) {
        for (const Link& link : neighbours[rank].sources) {
            Block& block = outputs[rank].emplace_back();
            if (link.rank == no_neighbour) continue;
            Edges& edge = edges[{link.rank, static_cast<std::int32_t>(rank), link.lane}];
            if (edge.received_count < edge.sent.size())
                block = {link.rank, edge.sent[edge.received_count]};
            ++edge.received_count;
        }
    }
    for (const auto& [ends, edge] : edges) {
        if (edge.received_count == edge.sent.size()) continue;
        findings.report(
            FaultKind::pairing, "rank {} has {} edges to rank {}, which has {} from it",
            std::get<0>(ends), edge.sent.size(), std::get<1>(ends), edge.received_count
        );
    }
    return outputs;
}

/// What the steps do.
Outputs outputs_by_steps(const AllSteps& steps, const Execution& execution, Findings& findings) {
    Outputs outputs;
    for (const Schedule& schedule : steps.schedules())
        outputs.emplace_back(buffer_chunks(schedule, BufferId::output));
    for (const StepId id : execution.order) {
        const StepId partner = execution.partners[id];
        const Step& reader = steps[id];
        const StepId writer = partner == no_step ? id : partner;
        const bool is_block = reader.source.buffer == BufferId::input && reader.length == 1;
        if (reader.kind == StepKind::reduce || !is_block) {
            findings.report(
                FaultKind::result, "rank {} step {}: sends or copies no block of its input",
                steps.rank_of(id), steps.index_of(id)
            );
            continue;
        }
        const Step& step = steps[writer];
        if (step.target.buffer != BufferId::output) {
            findings.report(
                FaultKind::result, "rank {} step {}: writes no block of its output",
                steps.rank_of(writer), steps.index_of(writer)
            );
            continue;
        }
        outputs[steps.rank_of(writer)][step.target.chunk] = {
            static_cast<std::int32_t>(steps.rank_of(id)), reader.source.chunk};
    }
    return outputs;
}

}  // namespace

std::optional<Fault> find_neighbour_fault(
    std::span<const Schedule> schedules, std::span<const Neighbours> neighbours
) {
    DLRT_ASSERT(schedules.size() == neighbours.size() && !schedules.empty());
    const AllSteps steps(schedules);
    Findings findings;
    check_bounds(steps, findings);
    if (findings.has_fault()) return std::move(findings).take();
    const std::vector<StepId> partners = check_pairing(steps, findings);
    if (findings.has_fault()) return std::move(findings).take();
    const std::vector<StepId> order = check_deadlock(steps, partners, findings);
    for (const Schedule& schedule : schedules) check_races(schedule, findings);
    if (findings.has_fault()) return std::move(findings).take();
    const Outputs right = outputs_by_edges(schedules[0].collective, neighbours, findings);
    const Outputs found = outputs_by_steps(steps, {order, partners}, findings);
    for (std::size_t rank = 0; rank < right.size() && !findings.has_fault(); ++rank) {
        if (found[rank].size() != right[rank].size()) {
            findings.report(
                FaultKind::result, "rank {} has {} sources and {} blocks of output", rank,
                right[rank].size(), found[rank].size()
            );
            continue;
        }
        for (std::size_t i = 0; i < right[rank].size(); ++i) {
            if (found[rank][i] == right[rank][i]) continue;
            findings.report(
                FaultKind::result, "rank {}: block {} comes from block {} of rank {}", rank, i,
                found[rank][i].chunk, found[rank][i].rank
            );
        }
    }
    return std::move(findings).take();
}

}  // namespace dlrt::coll
