// SPDX-License-Identifier: Apache-2.0
/// Circulant all-gather: the rounds of Bruck's with other distances, straight into the outputs. A
/// message whose blocks pass the last rank is two.
///
/// Cost L alpha + n (p-1)/p beta; any p. Best for blocks too long for Bruck's copies and too short
/// for a ring's rounds. Source: Träff, "Optimal, non-pipelined reduce-scatter and allreduce
/// algorithms", 2024.
///
///   p = 6, rank 0 receives:   1 from 1   2 from 2   3 4 5 from 3
#include "collectives/algorithms.hpp"
#include "collectives/circulant.hpp"

namespace dlrt::coll {

Schedule allgather_circulant(const Shape& shape) {
    const auto count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder({Collective::allgather, "circulant", ChunkRule::block, count}, shape);
    if (shape.placement == Placement::separate) {
        builder.copy(input_slice(0), output_slice(static_cast<std::uint32_t>(shape.rank)));
    }
    gather_around(builder, shape);
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
