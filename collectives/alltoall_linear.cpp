// SPDX-License-Identifier: Apache-2.0
/// Linear all-to-all: everybody sends all its blocks and receives all of its own at once, each rank
/// beginning with the one above it.
///
/// Cost (p - 1) alpha + n (p-1)/p beta, all messages under way together; any p. Best for few ranks
/// and for blocks of medium length. In place, a copy of n (p-1)/p is sent, so that what comes in
/// need not wait. Source: folklore.
///
///   p = 4, rank 0:   0>1 0>2 0>3 3>0 2>0 1>0, all at once
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule alltoall_linear(const Shape& shape) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    const auto rank = static_cast<std::uint32_t>(shape.rank);
    ScheduleBuilder builder({Collective::alltoall, "linear", ChunkRule::block, size}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    const std::uint32_t above = rank + 1;
    if (is_in_place && rank > 0) builder.copy(output_slice(0, rank), scratch_slice(0, 0, rank));
    if (is_in_place && above < size) {
        builder.copy(output_slice(above, size - above), scratch_slice(rank, 0, size - above));
    }
    auto outgoing = [&](std::uint32_t block) {
        return is_in_place ? scratch_slice(block < rank ? block : block - 1) : input_slice(block);
    };
    for (std::uint32_t distance = 1; distance < size; ++distance) {
        const std::uint32_t source = (rank + size - distance) % size;
        builder.recv(static_cast<std::int32_t>(source), output_slice(source));
    }
    for (std::uint32_t distance = 1; distance < size; ++distance) {
        const std::uint32_t target = (rank + distance) % size;
        builder.send(static_cast<std::int32_t>(target), outgoing(target));
    }
    if (!is_in_place) builder.copy(input_slice(rank), output_slice(rank));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
