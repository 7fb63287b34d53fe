// SPDX-License-Identifier: Apache-2.0
/// Recursive doubling all-gather: in round k each rank exchanges all that it has with the one whose
/// number differs in bit k, straight into the outputs. When p is no power of two, the first ranks
/// fold in pairs before and unfold after.
///
/// Cost log2 p alpha + n (p-1)/p beta for powers of two; otherwise 2 alpha + n beta more for the
/// fold. Best for short and middling blocks on powers of two. Source: Thakur, Rabenseifner, Gropp,
/// "Optimization of collective communication operations in MPICH", 2005.
///
///   p = 6:   fold 0>1 2>3   then 1<>3 4<>5   then 1<>4 3<>5   unfold 1>0 3>2
#include "collectives/algorithms.hpp"
#include "collectives/fold.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {
Schedule allgather_recursive_doubling(const Shape& shape) {
    const std::int32_t size = shape.size;
    const std::int32_t rank = shape.rank;
    ScheduleBuilder builder(
        {Collective::allgather, "recursive_doubling", ChunkRule::block,
         static_cast<std::uint32_t>(size)},
        shape
    );
    if (shape.placement == Placement::separate) {
        builder.copy(input_slice(0), output_blocks(rank, rank + 1));
    }
    const Fold fold = Fold::to_power_of_two(size);
    const std::int32_t partner = fold.is_paired(rank) ? Fold::partner_of(rank) : -1;
    if (fold.is_out(rank)) {
        builder.send(partner, output_blocks(rank, rank + 1));
        if (rank > 0) builder.recv(partner, output_blocks(0, rank));
        builder.recv(partner, output_blocks(rank + 1, size));
        return std::move(builder).finish();
    }
    if (partner >= 0) builder.recv(partner, output_blocks(partner, partner + 1));
    const std::int32_t number = fold.number_of(rank);
    auto blocks_with = [&](std::int32_t some_number, std::int32_t count) {
        const std::int32_t first = some_number - some_number % count;
        return output_blocks(fold.first_rank(first), fold.first_rank(first + count));
    };
    for (std::int32_t bit = 1; bit < fold.count(); bit *= 2) {
        const std::int32_t peer = fold.rank_of(number ^ bit);
        builder.recv(peer, blocks_with(number ^ bit, bit));
        builder.send(peer, blocks_with(number, bit));
    }
    if (partner > 0) builder.send(partner, output_blocks(0, partner));
    if (partner >= 0) builder.send(partner, output_blocks(partner + 1, size));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
