// SPDX-License-Identifier: Apache-2.0
/// Pipelined broadcast on a circulant graph (circulant_pipeline.hpp), of k = 32 blocks.
///
/// Cost (k - 1 + L) (alpha + n/k beta); any p, any root; O(log^2 p + k log p) to make. Best for
/// long vectors. Source: Träff, "Optimal broadcast schedules in logarithmic time with applications
/// to broadcast, all-broadcast, reduction and all-reduction", 2024.
#include "collectives/algorithms.hpp"
#include "collectives/circulant.hpp"
#include "collectives/circulant_pipeline.hpp"

namespace dlrt::coll {

Schedule bcast_circulant(const Shape& shape) {
    using Pipeline = CirculantPipeline;
    ScheduleBuilder builder(
        {Collective::bcast, "circulant", ChunkRule::split, Pipeline::block_count}, shape
    );
    const auto slice = [](std::int32_t chunk) {
        return output_slice(static_cast<std::uint32_t>(chunk));
    };
    Pipeline pipeline(shape.size, shape.root);
    for (std::int32_t round = 0; round < pipeline.round_count(); ++round) {
        const std::uint32_t distance = pipeline.distance_in(round);
        const std::int32_t own = pipeline.received(shape.rank, round);
        if (own != Pipeline::no_block) builder.recv(rank_below(shape, distance), slice(own));
        const std::int32_t above = rank_above(shape, distance);
        const std::int32_t sent = pipeline.received(above, round);
        if (sent != Pipeline::no_block) builder.send(above, slice(sent));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
