// SPDX-License-Identifier: Apache-2.0
/// Binomial scatter: the blocks of an interval go to its holder in one message, which hands parts
/// of them on.
///
/// Cost L alpha + n (p-1)/p beta at the root; any p, any root. Best for short blocks.
/// Source: folklore; the tree is that of tree.hpp.
///
///   p = 8, root 0:   0>4 [4 5 6 7]   0>2 [2 3]  4>6 [6 7]   0>1 [1]  2>3 [3]  4>5 [5]  6>7 [7]
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

Schedule scatter_binomial(const Shape& shape) {
    const auto chunk_count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder(
        {Collective::scatter, "binomial", ChunkRule::block, chunk_count}, shape
    );
    const TreePosition position = interval_tree(shape.size, shape.rank, shape.root);
    const bool is_root = position.parent < 0;
    if (!is_root && position.children.empty()) {
        builder.recv(position.parent, output_slice(0));
        return std::move(builder).finish();
    }
    auto home = [&](const Interval& ranks) {
        const auto length = static_cast<std::uint32_t>(ranks.size());
        const auto first = static_cast<std::uint32_t>(ranks.first - position.below.first);
        return is_root ? input_slice(first, length) : scratch_slice(first, 0, length);
    };
    if (!is_root) builder.recv(position.parent, home(position.below));
    for (const TreeChild& child : position.children) builder.send(child.rank, home(child.below));
    if (!is_root || shape.placement == Placement::separate) {
        builder.copy(home({shape.rank, shape.rank + 1}), output_slice(0));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
