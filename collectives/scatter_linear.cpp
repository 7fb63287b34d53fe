// SPDX-License-Identifier: Apache-2.0
/// Linear scatter: the root sends everybody its block.
///
/// Cost (p-1) alpha + n (p-1)/p beta at the root, no byte travels twice; any p, any root. Best for
/// long blocks. Source: folklore.
///
///   p = 4, root 0:   0>1  0>2  0>3, all at once
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule scatter_linear(const Shape& shape) {
    const auto chunk_count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder({Collective::scatter, "linear", ChunkRule::block, chunk_count}, shape);
    if (shape.rank != shape.root) {
        builder.recv(shape.root, output_slice(0));
        return std::move(builder).finish();
    }
    for (std::int32_t distance = 1; distance < shape.size; ++distance) {
        const std::int32_t peer = (shape.rank + distance) % shape.size;
        builder.send(peer, input_slice(static_cast<std::uint32_t>(peer)));
    }
    if (shape.placement == Placement::separate) {
        builder.copy(input_slice(static_cast<std::uint32_t>(shape.rank)), output_slice(0));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
