// SPDX-License-Identifier: Apache-2.0
/// Pipelined chain: the vector goes from rank to rank, starting at the root, in k = 32 chunks, each
/// passed on while the next one arrives.
///
/// Cost (p - 2 + k) (alpha + n/k beta); any p, any root. Best for very long vectors and few ranks.
/// Source: folklore.
///
///   p = 4, root 2:   2>3>0>1
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule bcast_chain(const Shape& shape) {
    constexpr std::uint32_t chunk_count = 32;
    ScheduleBuilder builder({Collective::bcast, "chain", ChunkRule::split, chunk_count}, shape);
    const std::int32_t next = (shape.rank + 1) % shape.size;
    const std::int32_t previous = (shape.rank + shape.size - 1) % shape.size;
    for (std::uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
        if (shape.rank != shape.root) builder.recv(previous, output_slice(chunk));
        if (next != shape.root) builder.send(next, output_slice(chunk));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
