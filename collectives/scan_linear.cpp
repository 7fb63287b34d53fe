// SPDX-License-Identifier: Apache-2.0
/// Linear scan: a chain in which each rank adds its own to what comes from below and passes the sum
/// on. The vector is cut in p chunks, so that the ranks work on different ones at the same time.
///
/// Cost (2 p - 2) (alpha + n/p beta + n/p gamma), no byte travels twice; any p. Best for long
/// vectors, and the least work in all where ranks outnumber cores. Source: folklore.
///
///   p = 4, chunk c in round c + k:   k = 0: 0>1   k = 1: 1>2   k = 2: 2>3
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule scan_linear(const Shape& shape) {
    const auto chunk_count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder({Collective::scan, "linear", ChunkRule::split, chunk_count}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    for (std::uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
        const Slice own = is_in_place ? output_slice(chunk) : input_slice(chunk);
        Slice prefix = own;
        if (shape.rank > 0) {
            const Slice landing = is_in_place ? scratch_slice(chunk % 2, chunk)
                                              : output_slice(chunk);
            prefix = output_slice(chunk);
            builder.recv(shape.rank - 1, landing);
            builder.reduce(landing, own, prefix);
        }
        if (shape.rank + 1 < shape.size) builder.send(shape.rank + 1, prefix);
    }
    if (shape.rank == 0 && !is_in_place)
        builder.copy(input_slice(0, chunk_count), output_slice(0, chunk_count));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
