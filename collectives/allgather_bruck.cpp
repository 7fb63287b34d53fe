// SPDX-License-Identifier: Apache-2.0
/// Bruck all-gather: in round k each rank passes all that it has to the rank 2^k below and gets as
/// much from the one 2^k above. Blocks are kept in scratch in the order me, me + 1, … and put in
/// place at the end.
///
/// Cost L alpha + n (p-1)/p beta, and a local copy of n; any p. Best for short blocks.
/// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all
/// communications in multiport message-passing systems", 1997.
///
///   p = 6, rank 0 has:   0   |   0 1   |   0 1 2 3   |   0 1 2 3 4 5
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule allgather_bruck(const Shape& shape) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    const auto rank = static_cast<std::uint32_t>(shape.rank);
    ScheduleBuilder builder({Collective::allgather, "bruck", ChunkRule::block, size}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    builder.copy(is_in_place ? output_slice(rank) : input_slice(0), scratch_slice(0));
    for (std::uint32_t distance = 1; distance < size; distance *= 2) {
        const std::uint32_t length = std::min(distance, size - distance);
        const auto above = static_cast<std::int32_t>((rank + distance) % size);
        const auto below = static_cast<std::int32_t>((rank + size - distance) % size);
        builder.recv(above, scratch_slice(distance, 0, length));
        builder.send(below, scratch_slice(0, 0, length));
    }
    // A rank's own block is in its place already when it came from there.
    const std::uint32_t kept = is_in_place ? 1 : 0;
    const std::uint32_t length_above = size - rank - kept;
    if (length_above > 0) {
        builder.copy(scratch_slice(kept, 0, length_above), output_slice(rank + kept, length_above));
    }
    if (rank > 0) builder.copy(scratch_slice(size - rank, 0, rank), output_slice(0, rank));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
