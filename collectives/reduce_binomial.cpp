// SPDX-License-Identifier: Apache-2.0
/// Binomial reduction: the broadcast's tree upwards. Subtrees are intervals of ranks, so the
/// operands meet in the order of ranks for every root, and the operation needs not commute.
///
/// Cost L (alpha + n beta + n gamma); any p, any root. Best for short vectors; for two ranks
/// always. Source: folklore; the tree is that of tree.hpp.
///
///   p = 8, root 0:   round 0: 1>0 3>2 5>4 7>6   round 1: 2>0 6>4   round 2: 4>0
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

Schedule reduce_binomial(const Shape& shape) {
    ScheduleBuilder builder({Collective::reduce, "binomial", ChunkRule::split, 1}, shape);
    const TreePosition position = interval_tree(shape.size, shape.rank, shape.root);
    const bool is_root = position.parent < 0;
    const bool is_in_place = is_root && shape.placement == Placement::in_place;
    const Slice own = is_in_place ? output_slice(0) : input_slice(0);
    const Slice sum = is_root ? output_slice(0) : scratch_slice(0);
    const std::uint32_t landing_base = is_root ? 0 : 1;

    Slice value = own;
    std::int32_t first_rank = shape.rank;
    std::uint32_t received = 0;
    for (auto child = position.children.rbegin(); child != position.children.rend(); ++child) {
        // The first operand can land where the sum will be. Two places for the others let the next
        // one arrive while this one is being added.
        const bool is_sum_free = received == 0 && !is_in_place;
        const Slice landing = is_sum_free ? sum : scratch_slice(landing_base + received % 2);
        ++received;
        builder.recv(child->rank, landing);
        if (child->below.first < first_rank) {
            builder.reduce(landing, value, sum);
            first_rank = child->below.first;
        } else {
            builder.reduce(value, landing, sum);
        }
        value = sum;
    }
    if (!is_root) builder.send(position.parent, value);
    if (is_root && !is_in_place && position.children.empty()) builder.copy(own, sum);
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
