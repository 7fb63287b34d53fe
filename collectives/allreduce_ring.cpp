// SPDX-License-Identifier: Apache-2.0
/// Ring all-reduce: p chunks travel once around the ring to be summed, and once more to be seen by
/// all.
///
/// Cost 2 (p - 1) alpha + 2 n (p-1)/p beta + n (p-1)/p gamma; any p. Best for long vectors. Each
/// chunk is summed in one order, starting at the rank of its number, so the operation must commute.
/// Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
/// 2009.
///
///   p = 4, chunks sent by rank 0:   sum: 0 3 2   spread: 1 0 3   (and its own sum is chunk 1)
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule allreduce_ring(const Shape& shape) {
    const std::int32_t size = shape.size;
    const auto chunk_count = static_cast<std::uint32_t>(size);
    ScheduleBuilder builder(
        {Collective::allreduce, "ring", ChunkRule::split, chunk_count, OperandOrder::any}, shape
    );
    const bool is_in_place = shape.placement == Placement::in_place;
    const std::int32_t next = (shape.rank + 1) % size;
    const std::int32_t previous = (shape.rank - 1 + size) % size;
    auto chunk_below = [&](std::int32_t distance) {
        return static_cast<std::uint32_t>((shape.rank - distance + 2 * size) % size);
    };
    auto own = [&](std::uint32_t chunk) {
        return is_in_place ? output_slice(chunk) : input_slice(chunk);
    };

    if (size == 1 && !is_in_place) builder.copy(input_slice(0), output_slice(0));
    for (std::int32_t round = 0; round + 1 < size; ++round) {
        const std::uint32_t sent = chunk_below(round);
        const std::uint32_t received = chunk_below(round + 1);
        const Slice landing = is_in_place
                                  ? scratch_slice(static_cast<std::uint32_t>(round % 2), received)
                                  : output_slice(received);
        builder.recv(previous, landing);
        builder.send(next, round == 0 ? own(sent) : output_slice(sent));
        builder.reduce(landing, own(received), output_slice(received));
    }
    for (std::int32_t round = 0; round + 1 < size; ++round) {
        builder.recv(previous, output_slice(chunk_below(round)));
        builder.send(next, output_slice(chunk_below(round - 1)));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
