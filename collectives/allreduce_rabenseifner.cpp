// SPDX-License-Identifier: Apache-2.0
/// Rabenseifner's all-reduce: reduce-scatter by recursive halving, then all-gather by recursive
/// doubling back through the same partners. When p is no power of two, the first ranks fold in
/// pairs before and unfold after.
///
/// Cost 2 log2 p alpha + 2 n (p-1)/p beta + n (p-1)/p gamma for powers of two; otherwise that of
/// the next lower one, and 2 alpha + 2 n beta + n gamma for the fold. Best for long vectors on
/// powers of two. Each chunk is reduced at one rank, and operands meet in the order of ranks.
/// Source: Rabenseifner, "Optimization of collective reduction operations", 2004.
///
///   p = 4, rank 0 keeps:   chunks 0 1 (from 1)   0 (from 2)   then has:   0 1 (2)   0 1 2 3 (1)
#include "collectives/algorithms.hpp"
#include "collectives/halving.hpp"

namespace dlrt::coll {

Schedule allreduce_rabenseifner(const Shape& shape) {
    const Fold fold = Fold::to_power_of_two(shape.size);
    const auto count = static_cast<std::uint32_t>(fold.count());
    ScheduleBuilder builder(
        {Collective::allreduce, "rabenseifner", ChunkRule::split, count}, shape
    );
    const bool is_in_place = shape.placement == Placement::in_place;
    if (fold.is_out(shape.rank)) {
        const std::int32_t partner = Fold::partner_of(shape.rank);
        builder.send(partner, is_in_place ? output_slice(0, count) : input_slice(0, count));
        builder.recv(partner, output_slice(0, count));
        return std::move(builder).finish();
    }
    const BufferId own = is_in_place ? BufferId::output : BufferId::input;
    Halving halving(builder, fold, shape.rank, own, BufferId::output);
    halving.reduce_scatter();
    const std::span<const Halving::Round> rounds = halving.rounds();
    for (auto next = rounds.rbegin(); next != rounds.rend(); ++next) {
        const Halving::Round& round = *next;
        builder.recv(round.peer, halving.sum(round.given));
        builder.send(round.peer, halving.sum(round.kept));
    }
    if (fold.is_paired(shape.rank)) {
        builder.send(Fold::partner_of(shape.rank), output_slice(0, count));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
