// SPDX-License-Identifier: Apache-2.0
/// Receives, copies and sends without any order among them.
#include "collectives/neighbour_exchange.hpp"

#include "collectives/schedule_builder.hpp"
#include "runtime/base/check.hpp"

#include <cstddef>

namespace dlrt::coll {
namespace {

/// The block that goes to that target.
Slice sent_block(Collective collective, std::size_t target) {
    const bool has_one = collective == Collective::neighbor_allgather;
    return input_slice(has_one ? 0 : static_cast<std::uint32_t>(target));
}

/// From the rank to itself: the k-th target of a lane meets its k-th source.
void copy_own(
    ScheduleBuilder& builder, Collective collective, std::int32_t rank, const Neighbours& neighbours
) {
    std::vector<bool> is_taken(neighbours.targets.size(), false);
    for (std::size_t source = 0; source < neighbours.sources.size(); ++source) {
        const Link& link = neighbours.sources[source];
        if (link.rank != rank) continue;
        std::size_t target = 0;
        while (target < is_taken.size() && (is_taken[target] || neighbours.targets[target] != link))
            ++target;
        DLRT_ASSERT(target < is_taken.size());
        is_taken[target] = true;
        builder.copy(
            sent_block(collective, target), output_slice(static_cast<std::uint32_t>(source))
        );
    }
}

}  // namespace

Schedule neighbour_exchange(
    Collective collective, const Shape& shape, const Neighbours& neighbours
) {
    DLRT_ASSERT(is_neighbour_exchange(collective));
    DLRT_ASSERT(shape.root == 0 && shape.placement == Placement::separate);
    ScheduleBuilder builder({collective, "direct", ChunkRule::block, 1}, shape);
    // Receives first: what arrives then finds its place.
    for (std::size_t i = 0; i < neighbours.sources.size(); ++i) {
        const Link& link = neighbours.sources[i];
        if (link.rank == no_neighbour || link.rank == shape.rank) continue;
        builder.recv(link.rank, output_slice(static_cast<std::uint32_t>(i)), link.lane);
    }
    for (std::size_t i = 0; i < neighbours.targets.size(); ++i) {
        const Link& link = neighbours.targets[i];
        if (link.rank == no_neighbour || link.rank == shape.rank) continue;
        builder.send(link.rank, sent_block(collective, i), link.lane);
    }
    copy_own(builder, collective, shape.rank, neighbours);
    Schedule schedule = std::move(builder).finish();
    const bool has_one = collective == Collective::neighbor_allgather;
    schedule.input_blocks = has_one ? 1 : static_cast<std::uint32_t>(neighbours.targets.size());
    schedule.output_blocks = static_cast<std::uint32_t>(neighbours.sources.size());
    return schedule;
}

}  // namespace dlrt::coll
