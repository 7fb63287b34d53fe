// SPDX-License-Identifier: Apache-2.0
/// Ring reduce-scatter: the partial sum of each block travels once around the ring, from the rank
/// above its owner to its owner, and every rank adds its part.
///
/// Cost (p - 1) (alpha + n/p beta + n/p gamma); any p. Best for long vectors. Each block is summed
/// in another order, so the operation must commute.
/// Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
/// 2009, first half.
///
///   p = 4, blocks sent by rank 0:   3 2 1   received: 2 1 0
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule reduce_scatter_ring(const Shape& shape) {
    const std::int32_t size = shape.size;
    const auto block_count = static_cast<std::uint32_t>(size);
    ScheduleBuilder builder(
        {Collective::reduce_scatter, "ring", ChunkRule::block, block_count, OperandOrder::any},
        shape
    );
    const bool is_in_place = shape.placement == Placement::in_place;
    auto own = [&](std::int32_t distance_below) {
        const auto block = static_cast<std::uint32_t>((shape.rank - distance_below + size) % size);
        return is_in_place ? output_slice(block) : input_slice(block);
    };

    if (size == 1 && !is_in_place) builder.copy(input_slice(0), output_slice(0));
    Slice partial = own(1);
    for (std::int32_t round = 1; round < size; ++round) {
        // The next partial sum can arrive while this one is being sent.
        const bool is_last = round + 1 == size;
        const Slice landing = is_last && !is_in_place
                                  ? output_slice(0)
                                  : scratch_slice(static_cast<std::uint32_t>(round % 2));
        builder.recv((shape.rank - 1 + size) % size, landing);
        builder.send((shape.rank + 1) % size, partial);
        partial = is_last ? output_slice(0) : landing;
        builder.reduce(landing, own(round + 1), partial);
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
