// SPDX-License-Identifier: Apache-2.0
/// Circulant all-reduce: reduce-scatter and all-gather in ceil(log2 p) rounds each, for every p
/// without folding. In a round a rank hands on the blocks beyond its distance and adds as many to
/// those nearest to it.
///
/// Cost 2 L alpha + 2 n (p-1)/p beta + n (p-1)/p gamma; any p; a message whose blocks pass the end
/// of the vector is two; for odd p a local copy of n/p unless in place. Best for long vectors when
/// p is no power of two. Operands meet in an order that depends on the chunk, so the operation must
/// commute. Source: Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2024.
///
///   p = 6, rank 0 sends blocks:   3 4 5 to 3   2 to 2   1 to 1   then   0 to 5   0 to 4   0 1 2 to
///   3
#include "collectives/algorithms.hpp"
#include "collectives/circulant.hpp"

namespace dlrt::coll {
namespace {

void reduce_scatter(ScheduleBuilder& builder, const Shape& shape) {
    BufferId value = shape.placement == Placement::in_place ? BufferId::output : BufferId::input;
    const auto rounds = circulant_rounds(shape.size);
    // The block that the first round of an odd size neither sends nor reduces goes out together
    // with others that it has reduced.
    if (value == BufferId::input && shape.size % 2 == 1) {
        visit_blocks(
            shape, shape.size == 1 ? 0 : rounds[0].length, 1,
            [&](std::uint32_t chunk, std::uint32_t) {
                builder.copy(input_slice(chunk), output_slice(chunk));
            }
        );
    }
    std::uint32_t next_landing = 0;
    for (const CirculantRound& round : rounds) {
        auto at_value = [&](std::uint32_t chunk, std::uint32_t length) -> Slice {
            return {{value, chunk}, length, chunk};
        };
        visit_blocks(
            shape, round.distance, round.length,
            [&](std::uint32_t chunk, std::uint32_t length) {
                builder.send(rank_above(shape, round.distance), at_value(chunk, length));
            }
        );
        visit_blocks(shape, 0, round.length, [&](std::uint32_t chunk, std::uint32_t length) {
            Slice landing = output_slice(chunk, length);
            if (value == BufferId::output) {
                landing = scratch_slice(next_landing, chunk, length);
                next_landing += length;
            }
            builder.recv(rank_below(shape, round.distance), landing);
            builder.reduce(landing, at_value(chunk, length), output_slice(chunk, length));
        });
        value = BufferId::output;
    }
}

}  // namespace

Schedule allreduce_circulant(const Shape& shape) {
    const auto count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder(
        {Collective::allreduce, "circulant", ChunkRule::split, count, OperandOrder::any}, shape
    );
    reduce_scatter(builder, shape);
    gather_around(builder, shape);
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
