// SPDX-License-Identifier: Apache-2.0
/// From the last child to the first, so that each borders on what is summed already.
#include "collectives/tree_reduction.hpp"

namespace dlrt::coll {

Slice TreeReduction::reduce_subtree(const Slice& own, const Slice& sum) {
    Slice value = own;
    std::int32_t first_rank = rank_;
    const std::vector<TreeChild>& children = position_.children;
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
        // The first operand can land where the sum will be.
        Slice landing = sum;
        if (value.place == sum.place) {
            const std::uint32_t place = landings_.first + landed_++ % landings_.count;
            landing = scratch_slice(place, own.like, own.length);
        }
        builder_.recv(child->rank, landing, lane_);
        if (child->below.first < first_rank) {
            builder_.reduce(landing, value, sum);
            first_rank = child->below.first;
        } else {
            builder_.reduce(value, landing, sum);
        }
        value = sum;
    }
    return value;
}

Schedule reduce_over_tree(
    ScheduleBuilder&& builder, const Shape& shape, const TreePosition& position
) {
    const bool is_root = position.parent < 0;
    const bool is_in_place = is_root && shape.placement == Placement::in_place;
    const Slice own = is_in_place ? output_slice(0) : input_slice(0);
    const Slice sum = is_root ? output_slice(0) : scratch_slice(0);
    TreeReduction reduction(builder, position, shape.rank, {is_root ? 0u : 1u, 2});
    const Slice value = reduction.reduce_subtree(own, sum);
    if (!is_root) builder.send(position.parent, value);
    if (shape.size == 1 && !is_in_place) builder.copy(own, sum);
    return std::move(builder).finish();
}

Schedule allreduce_over_tree(
    ScheduleBuilder&& builder, const Shape& shape, const TreePosition& position
) {
    const bool is_in_place = shape.placement == Placement::in_place;
    const Slice own = is_in_place ? output_slice(0) : input_slice(0);
    TreeReduction reduction(builder, position, shape.rank, {0, 2});
    const Slice value = reduction.reduce_subtree(own, output_slice(0));
    if (position.parent >= 0) {
        builder.send(position.parent, value);
        builder.recv(position.parent, output_slice(0));
    }
    for (const TreeChild& child : position.children) builder.send(child.rank, output_slice(0));
    if (shape.size == 1 && !is_in_place) builder.copy(own, output_slice(0));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
