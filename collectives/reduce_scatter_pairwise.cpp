// SPDX-License-Identifier: Apache-2.0
/// Pairwise reduce-scatter: every rank sends each other one its block as it is, and adds what it
/// gets from all of them: in round k from the rank k below.
///
/// Cost (p - 1) (alpha + n/p beta + n/p gamma); any p. Best where the order of ranks counts.
/// Sources come downwards, first those below the rank and then, from the top, those above it; with
/// a sum for each of the two groups every operand comes before what is there.
/// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", 2005; the two sums are ours.
///
///   p = 4, rank 1 gets from:   0   3   2   and computes (0 op 1) op (2 op 3)
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule reduce_scatter_pairwise(const Shape& shape) {
    const std::int32_t size = shape.size;
    const std::int32_t rank = shape.rank;
    const auto block_count = static_cast<std::uint32_t>(size);
    ScheduleBuilder builder(
        {Collective::reduce_scatter, "pairwise", ChunkRule::block, block_count}, shape
    );
    const bool is_in_place = shape.placement == Placement::in_place;
    auto own = [&](std::int32_t block) {
        const auto chunk = static_cast<std::uint32_t>(block);
        return is_in_place ? output_slice(chunk) : input_slice(chunk);
    };
    // In place, the output holds a block that has to be sent until the last round.
    const Slice lower_sum = is_in_place ? scratch_slice(3) : output_slice(0);
    const Slice upper_sum = scratch_slice(0);

    if (size == 1 && !is_in_place) builder.copy(input_slice(0), output_slice(0));
    Slice lower = own(rank);
    Slice upper;
    for (std::int32_t distance = 1; distance < size; ++distance) {
        const std::int32_t source = (rank - distance + size) % size;
        const std::int32_t target = (rank + distance) % size;
        const bool is_first_above = source == size - 1;
        const Slice landing = is_first_above
                                  ? upper_sum
                                  : scratch_slice(1 + static_cast<std::uint32_t>(distance % 2));
        builder.recv(source, landing);
        builder.send(target, own(target));
        if (is_first_above) {
            upper = upper_sum;
        } else if (source > rank) {
            builder.reduce(landing, upper, upper_sum);
        } else {
            const bool is_result = rank == size - 1 && source == 0;
            const Slice sum = is_result ? output_slice(0) : lower_sum;
            builder.reduce(landing, lower, sum);
            lower = sum;
        }
    }
    if (upper.length > 0) builder.reduce(lower, upper, output_slice(0));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
