// SPDX-License-Identifier: Apache-2.0
/// Linear all-gather: everybody sends the own block to everybody, all at once.
///
/// Cost (p - 1) alpha + n (p-1)/p beta, but no message waits for another; any p. Best for few ranks
/// where each pair has a way of its own. Source: folklore.
///
///   p = 4, rank 0:   sends to 1 2 3, receives from 3 2 1
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule allgather_linear(const Shape& shape) {
    const auto count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder({Collective::allgather, "linear", ChunkRule::block, count}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    const Slice home = output_slice(static_cast<std::uint32_t>(shape.rank));
    for (std::int32_t distance = 1; distance < shape.size; ++distance) {
        const std::int32_t below = (shape.rank - distance + shape.size) % shape.size;
        builder.recv(below, output_slice(static_cast<std::uint32_t>(below)));
        builder.send((shape.rank + distance) % shape.size, is_in_place ? home : input_slice(0));
    }
    if (!is_in_place) builder.copy(input_slice(0), home);
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
