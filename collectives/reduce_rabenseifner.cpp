// SPDX-License-Identifier: Apache-2.0
/// Rabenseifner's reduction: reduce-scatter by recursive halving, then a binomial gather to the
/// root back through the same partners. When p is no power of two, the first ranks fold in pairs
/// before, such that the root stays.
///
/// Cost 2 log2 p alpha + 2 n (p-1)/p beta + n (p-1)/p gamma for powers of two; otherwise that of
/// the next lower one, and alpha + n beta + n gamma for the fold. Best for long vectors. Operands
/// meet in the order of ranks. Source: Rabenseifner, "Optimization of collective reduction
/// operations", 2004.
///
///   p = 4, root 0:   halve 0<>1 2<>3   halve 0<>2 1<>3   gather 2>0 3>1   gather 1>0
#include "collectives/algorithms.hpp"
#include "collectives/halving.hpp"

namespace dlrt::coll {

Schedule reduce_rabenseifner(const Shape& shape) {
    const Fold fold = Fold::to_power_of_two(shape.size, shape.root);
    const auto count = static_cast<std::uint32_t>(fold.count());
    ScheduleBuilder builder({Collective::reduce, "rabenseifner", ChunkRule::split, count}, shape);
    if (fold.is_out(shape.rank)) {
        builder.send(Fold::partner_of(shape.rank), input_slice(0, count));
        return std::move(builder).finish();
    }
    const bool is_root = shape.rank == shape.root;
    const bool is_in_place = is_root && shape.placement == Placement::in_place;
    const BufferId own = is_in_place ? BufferId::output : BufferId::input;
    Halving halving(builder, fold, shape.rank, own, is_root ? BufferId::output : BufferId::scratch);
    halving.reduce_scatter();
    const std::int32_t difference = fold.number_of(shape.rank) ^ fold.number_of(shape.root);
    const std::span<const Halving::Round> rounds = halving.rounds();
    for (auto next = rounds.rbegin(); next != rounds.rend(); ++next) {
        const Halving::Round& round = *next;
        if ((difference & round.bit) != 0) {
            builder.send(round.peer, halving.sum(round.kept));
            break;
        }
        builder.recv(round.peer, halving.sum(round.given));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
