// SPDX-License-Identifier: Apache-2.0
/// Binomial gather: each rank collects the blocks of its interval in scratch and hands them on in
/// one message.
///
/// Cost L alpha + n (p-1)/p beta at the root; any p, any root. Best for short blocks.
/// Source: folklore; the tree is that of tree.hpp.
///
///   p = 8, root 0:   1>0 [1]  3>2 [3]  5>4 [5]  7>6 [7]   2>0 [2 3]  6>4 [6 7]   4>0 [4 5 6 7]
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

Schedule gather_binomial(const Shape& shape) {
    const auto chunk_count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder({Collective::gather, "binomial", ChunkRule::block, chunk_count}, shape);
    const TreePosition position = interval_tree(shape.size, shape.rank, shape.root);
    const bool is_root = position.parent < 0;
    if (!is_root && position.children.empty()) {
        builder.send(position.parent, input_slice(0));
        return std::move(builder).finish();
    }
    auto home = [&](const Interval& ranks) {
        const auto length = static_cast<std::uint32_t>(ranks.size());
        const auto first = static_cast<std::uint32_t>(ranks.first - position.below.first);
        return is_root ? output_slice(first, length) : scratch_slice(first, 0, length);
    };
    for (auto child = position.children.rbegin(); child != position.children.rend(); ++child) {
        builder.recv(child->rank, home(child->below));
    }
    if (!is_root || shape.placement == Placement::separate) {
        builder.copy(input_slice(0), home({shape.rank, shape.rank + 1}));
    }
    if (!is_root) builder.send(position.parent, home(position.below));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
