// SPDX-License-Identifier: Apache-2.0
/// Bruck reduce-scatter: Bruck's all-gather with time and messages turned round. The distances
/// between partners are the powers of two below p, the longest first; over each go the sums of the
/// blocks from there on.
///
/// Cost L alpha + n (p-1)/p (beta + gamma), and a local copy of up to n; any p. Best for short
/// vectors. Distant ranks are added first, so the operation must commute.
/// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all
/// communications in multiport message-passing systems", 1997, for the all-gather; that its reverse
/// reduces: Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2024.
///
///   p = 6, rank 0 sends:   blocks 4 5 to 4   then 2 3 to 2   then 1 to 1
#include "collectives/algorithms.hpp"
#include "collectives/reduce_around.hpp"

#include <bit>

namespace dlrt::coll {

Schedule reduce_scatter_bruck(const Shape& shape) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder(
        {Collective::reduce_scatter, "bruck", ChunkRule::block, size, OperandOrder::any}, shape
    );
    if (size > 1) {
        std::vector<CirculantRound> rounds;
        for (std::uint32_t left = size; left > 1;) {
            const std::uint32_t distance = std::bit_ceil(left) / 2;
            rounds.push_back({distance, left - distance});
            left = distance;
        }
        reduce_around(builder, shape, rounds);
    } else if (shape.placement == Placement::separate) {
        builder.copy(input_slice(0), output_slice(0));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
