// SPDX-License-Identifier: Apache-2.0
/// Who has entered before whom may leave. 64 ranks at a time, so that memory grows with the steps
/// only.
#include "collectives/verify_parts.hpp"

#include <algorithm>

namespace dlrt::coll {
namespace {

constexpr std::size_t batch_size = 64;

/// Bit i of a step: it follows from the entering of rank first + i.
std::vector<std::uint64_t> followed_ranks(
    const AllSteps& steps, const Execution& execution, std::size_t first
) {
    std::vector<std::uint64_t> known(steps.count(), 0);
    const std::size_t end = std::min(first + batch_size, steps.schedules().size());
    for (std::size_t rank = first; rank < end; ++rank) {
        for (StepId id = steps.first_of(rank); id < steps.first_of(rank + 1); ++id)
            known[id] |= std::uint64_t{1} << (rank - first);
    }
    auto tell_successors = [&](StepId id) {
        steps.for_successors(id, [&](StepId next) { known[next] |= known[id]; });
    };
    for (const StepId id : execution.order) {
        const StepId partner = execution.partners[id];
        if (partner != no_step) {
            known[partner] |= known[id];
            tell_successors(partner);
        }
        tell_successors(id);
    }
    return known;
}

}  // namespace

void check_barrier(const AllSteps& steps, const Execution& execution, Findings& findings) {
    const std::size_t size = steps.schedules().size();
    for (std::size_t first = 0; first < size && !findings.has_fault(); first += batch_size) {
        const std::vector<std::uint64_t> known = followed_ranks(steps, execution, first);
        for (std::size_t rank = 0; rank < size; ++rank) {
            std::uint64_t all = 0;
            for (StepId id = steps.first_of(rank); id < steps.first_of(rank + 1); ++id)
                all |= known[id];
            for (std::size_t other = first; other < std::min(first + batch_size, size); ++other) {
                if (other == rank || (all >> (other - first) & 1) != 0) continue;
                findings.report(
                    FaultKind::result, "rank {} can leave the barrier before rank {} has entered",
                    rank, other
                );
            }
        }
    }
}

}  // namespace dlrt::coll
