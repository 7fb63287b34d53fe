// SPDX-License-Identifier: Apache-2.0
/// Ring all-gather: every block travels once around the ring, straight into the outputs.
///
/// Cost (p - 1) alpha + n (p-1)/p beta; any p. Best for long blocks; for two ranks always.
/// Source: folklore; second half of the ring all-reduce.
///
///   p = 4, blocks sent by rank 0:   0 3 2   received: 3 2 1
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule allgather_ring(const Shape& shape) {
    const std::int32_t size = shape.size;
    const auto chunk_count = static_cast<std::uint32_t>(size);
    ScheduleBuilder builder({Collective::allgather, "ring", ChunkRule::block, chunk_count}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    auto block_below = [&](std::int32_t distance) {
        return static_cast<std::uint32_t>((shape.rank - distance + size) % size);
    };
    for (std::int32_t round = 0; round + 1 < size; ++round) {
        builder.recv((shape.rank - 1 + size) % size, output_slice(block_below(round + 1)));
        const bool sends_input = round == 0 && !is_in_place;
        builder.send(
            (shape.rank + 1) % size, sends_input ? input_slice(0) : output_slice(block_below(round))
        );
    }
    if (!is_in_place) builder.copy(input_slice(0), output_slice(block_below(0)));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
