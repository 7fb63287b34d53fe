// SPDX-License-Identifier: Apache-2.0
/// Pipelined all-reduce over two binary trees: each sums and spreads half of the k = 32 chunks, and
/// a rank that has children in one tree has none in the other, so that all links are busy both
/// ways.
///
/// Cost about 4 log2 p (alpha + 2 n/k beta) to fill, then 2 n beta + n gamma; any p. Best for
/// vectors too long for recursive doubling on so many ranks that a ring's rounds tell. Operands
/// meet in the order of ranks. Source: Sanders, Speck, Träff, "Two-tree algorithms for full
/// bandwidth broadcast, reduction and scan", 2009; the trees are those of tree.hpp.
///
///   p = 4, even chunks up:   0>1 2>1   1>3   odd chunks up:   3>2 1>2   2>0   and down again
#include "collectives/algorithms.hpp"
#include "collectives/tree_reduction.hpp"

namespace dlrt::coll {

Schedule allreduce_two_tree(const Shape& shape) {
    constexpr std::uint32_t chunk_count = 32;
    constexpr std::uint32_t window = 4;
    ScheduleBuilder builder(
        {Collective::allreduce, "two_tree", ChunkRule::split, chunk_count}, shape
    );
    const TreePosition positions[] = {
        twin_tree(shape.size, shape.rank, Twin::first),
        twin_tree(shape.size, shape.rank, Twin::second),
    };
    // Only one of them has children and operands that land.
    TreeReduction reductions[] = {
        {builder, positions[0], shape.rank, {0, window}, 0},
        {builder, positions[1], shape.rank, {0, window}, 1},
    };
    const bool is_in_place = shape.placement == Placement::in_place;
    for (std::uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
        const auto lane = static_cast<std::uint16_t>(chunk % 2);
        const TreePosition& position = positions[lane];
        const Slice own = is_in_place ? output_slice(chunk) : input_slice(chunk);
        const Slice sum = output_slice(chunk);
        const Slice value = reductions[lane].reduce_subtree(own, sum);
        if (position.parent >= 0) {
            builder.send(position.parent, value, lane);
            builder.recv(position.parent, sum, lane);
        }
        for (const TreeChild& child : position.children) builder.send(child.rank, sum, lane);
        if (shape.size == 1 && !is_in_place) builder.copy(own, sum);
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
