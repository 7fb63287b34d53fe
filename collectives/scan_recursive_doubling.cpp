// SPDX-License-Identifier: Apache-2.0
/// Recursive doubling: after round k each rank has the sum over itself and the 2^(k+1) - 1 ranks
/// below; it passes it to the rank 2^k above and puts what comes from 2^k below before it.
///
/// Cost L (alpha + n beta + n gamma), at most one message each way and one operation per round; any
/// p. Best for short vectors.
/// Source: Hillis, Steele, "Data parallel algorithms", 1986.
///
///   p = 6:   0>1 1>2 2>3 3>4 4>5   then 0>2 1>3 2>4 3>5   then 0>4 1>5
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule scan_recursive_doubling(const Shape& shape) {
    ScheduleBuilder builder({Collective::scan, "recursive_doubling", ChunkRule::split, 1}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    const std::int32_t rank = shape.rank;
    Slice sum = is_in_place ? output_slice(0) : input_slice(0);
    std::uint32_t round = 0;
    for (std::int32_t distance = 1; distance < shape.size; distance *= 2, ++round) {
        const bool has_below = rank >= distance;
        const bool is_output_free = sum.place.buffer == BufferId::input;
        const Slice landing = is_output_free ? output_slice(0) : scratch_slice(round % 2);
        if (has_below) builder.recv(rank - distance, landing);
        if (rank + distance < shape.size) builder.send(rank + distance, sum);
        if (!has_below) continue;
        builder.reduce(landing, sum, output_slice(0));
        sum = output_slice(0);
    }
    if (sum.place.buffer == BufferId::input) builder.copy(sum, output_slice(0));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
