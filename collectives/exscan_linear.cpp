// SPDX-License-Identifier: Apache-2.0
/// Linear exclusive scan: a chain in which each rank keeps what comes from below and passes on the
/// sum of that and its own. The vector is cut in p chunks, so that the ranks work on different ones
/// at the same time.
///
/// Cost (2 p - 2) (alpha + n/p beta + n/p gamma), no byte travels twice; any p. Best for long
/// vectors, and the least work in all where ranks outnumber cores. Source: folklore.
///
///   p = 4, chunk c in round c + k:   k = 0: 0>1   k = 1: 1>2   k = 2: 2>3
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule exscan_linear(const Shape& shape) {
    const auto chunk_count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder({Collective::exscan, "linear", ChunkRule::split, chunk_count}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    const bool is_last = shape.rank + 1 == shape.size;
    for (std::uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
        const Slice own = is_in_place ? output_slice(chunk) : input_slice(chunk);
        if (shape.rank == 0) {
            if (!is_last) builder.send(1, own);
            continue;
        }
        // What is its own is needed as long as the sum has not been made; nobody asks the last one.
        const bool must_wait = is_in_place && !is_last;
        const Slice landing = must_wait ? scratch_slice(2 + chunk % 2, chunk) : output_slice(chunk);
        builder.recv(shape.rank - 1, landing);
        if (!is_last) {
            const Slice sum = scratch_slice(chunk % 2, chunk);
            builder.reduce(landing, own, sum);
            builder.send(shape.rank + 1, sum);
        }
        if (must_wait) builder.copy(landing, output_slice(chunk));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
