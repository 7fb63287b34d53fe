// SPDX-License-Identifier: Apache-2.0
/// Circulant reduce-scatter: all ranks do the same with turned numbers. A rank counts blocks from
/// its own on; in each round it passes the upper half of those that it still has to the rank half
/// as far above, where they are the lower half, and adds what it gets from below.
///
/// Cost L alpha + n (p-1)/p (beta + gamma), each rank one message each way per round, and a local
/// copy of up to n/2 where the first message would wrap around the end of the vector; any p. Best
/// for short vectors. Distant ranks are added first, so the operation must commute.
/// Source: Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2024.
///
///   p = 6, rank 0 sends:   blocks 3 4 5 to 3   then 2 to 2   then 1 to 1
#include "collectives/algorithms.hpp"
#include "collectives/reduce_around.hpp"

namespace dlrt::coll {

Schedule reduce_scatter_circulant(const Shape& shape) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder(
        {Collective::reduce_scatter, "circulant", ChunkRule::block, size, OperandOrder::any}, shape
    );
    if (size > 1) {
        reduce_around(builder, shape, circulant_rounds(shape.size));
    } else if (shape.placement == Placement::separate) {
        builder.copy(input_slice(0), output_slice(0));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
