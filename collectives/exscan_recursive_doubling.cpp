// SPDX-License-Identifier: Apache-2.0
/// Recursive doubling: after round k each rank has the sum over itself and the 2^(k+1) - 1 ranks
/// below, which it passes on, and the same without its own, which will be the result.
///
/// Cost L (alpha + n beta + 2 n gamma), at most one message each way per round; any p. Best for
/// short vectors.
/// Source: Hillis, Steele, "Data parallel algorithms", 1986, with a second sum.
///
///   p = 6:   0>1 1>2 2>3 3>4 4>5   then 0>2 1>3 2>4 3>5   then 0>4 1>5
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule exscan_recursive_doubling(const Shape& shape) {
    ScheduleBuilder builder({Collective::exscan, "recursive_doubling", ChunkRule::split, 1}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    const std::int32_t rank = shape.rank;
    Slice with_own = is_in_place ? output_slice(0) : input_slice(0);
    std::uint32_t round = 0;
    for (std::int32_t distance = 1; distance < shape.size; distance *= 2, ++round) {
        const bool is_first = distance == 1;
        const bool has_below = rank >= distance;
        const bool will_send = rank + 2 * distance < shape.size;
        const Slice landing = is_first && !is_in_place ? output_slice(0)
                                                       : scratch_slice(1 + round % 2);
        if (has_below) builder.recv(rank - distance, landing);
        if (rank + distance < shape.size) builder.send(rank + distance, with_own);
        if (!has_below) continue;
        if (will_send) {
            builder.reduce(landing, with_own, scratch_slice(0));
            with_own = scratch_slice(0);
        }
        if (!is_first) {
            builder.reduce(landing, output_slice(0), output_slice(0));
        } else if (is_in_place) {
            builder.copy(landing, output_slice(0));
        }
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
