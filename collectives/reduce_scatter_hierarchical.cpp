// SPDX-License-Identifier: Apache-2.0
/// Hierarchical reduce-scatter: each group reduces all blocks to its leader, the leaders
/// reduce-scatter what belongs to their groups, and scatter it there.
///
/// For G groups of s ranks: 2 log2 s alpha + log2 s n (beta + gamma) within, (G - 1) alpha + n
/// (G-1)/G (beta + gamma) between. Any groups; where they are not of neighbours, the operation must
/// commute. Best for short blocks where hosts are far from each other. Source: folklore; the parts
/// are reduce_binomial.cpp, reduce_scatter_pairwise.cpp and scatter_binomial.cpp.
///
///   2 groups of 2:   1>0 [0 1 2 3]  3>2 [0 1 2 3]   0>2 [2 3]  2>0 [0 1]   0>1 [1]  2>3 [3]
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::reduce_scatter,        "hierarchical",
    {Collective::reduce, "binomial"},  {Collective::reduce_scatter, "pairwise"},
    {Collective::scatter, "binomial"},
};

}  // namespace

Schedule reduce_scatter_hierarchical(const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    const std::uint32_t size = hierarchy.size();
    Composition composition(hierarchy.header(ChunkRule::block, size), hierarchy.shape());
    const bool is_in_place = hierarchy.is_in_place();
    const bool has_inside = hierarchy.has_inside();
    Place blocks{hierarchy.own(), 0};  ///< All of them, as far as they are reduced.
    if (has_inside) {
        Phase phase = hierarchy.up();
        const bool is_there = hierarchy.is_leader() && is_in_place;
        phase.placement = is_there ? Placement::in_place : Placement::separate;
        phase.lengths = divided(size, chunk_count_of(phase));
        phase.input = window(blocks.buffer, 0, phase.lengths);
        if (hierarchy.is_leader() && !is_there)
            blocks = {BufferId::scratch, composition.take_scratch(size)};
        phase.output = window(blocks.buffer, blocks.chunk, phase.lengths);
        composition.add(phase);
    }
    if (hierarchy.has_between()) {
        Phase phase = hierarchy.between();
        for (std::int32_t group = 0; group < hierarchy.group_count(); ++group)
            phase.lengths.push_back(hierarchy.group_size(group));
        phase.input = window(blocks.buffer, blocks.chunk, phase.lengths);
        blocks = {BufferId::output, 0};
        // In place, the output is read until the end.
        if (has_inside || is_in_place)
            blocks = {BufferId::scratch, composition.take_scratch(hierarchy.group_size())};
        phase.output = {blocks.buffer, {blocks.chunk}};
        composition.add(phase);
    }
    if (has_inside) {
        Phase phase = hierarchy.down();
        phase.lengths.assign(hierarchy.group_size(), 1);
        phase.input = window(blocks.buffer, blocks.chunk, phase.lengths);
        phase.output = {BufferId::output, {0}};
        composition.add(phase);
    } else if (blocks.buffer != BufferId::output) {
        composition.builder().copy({blocks, 1, 0}, output_slice(0));
    }
    return hierarchy.finish(std::move(composition));
}

}  // namespace dlrt::coll
