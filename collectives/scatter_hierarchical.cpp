// SPDX-License-Identifier: Apache-2.0
/// Hierarchical scatter: the blocks of a group go to its leader together, who scatters them.
///
/// For G groups of s ranks: log2 G alpha + n (G-1)/G beta at the root between them, log2 s alpha
/// within. Any groups, any root. Best for short blocks where hosts are far from each other. Source:
/// folklore; the part is scatter_binomial.cpp.
///
///   2 groups of 2, root 0:   0>2 [2 3]   0>1 [1]  2>3 [3]
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::scatter,
    "hierarchical",
    {},
    {Collective::scatter, "binomial"},
    {Collective::scatter, "binomial"},
};

}  // namespace

Schedule scatter_hierarchical(const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    Composition composition(
        hierarchy.header(ChunkRule::block, hierarchy.size()), hierarchy.shape()
    );
    const bool is_root = hierarchy.shape().rank == hierarchy.shape().root;
    // Of the group, at its leader; the root's stay where they are.
    Window blocks{BufferId::input, {hierarchy.first_of(hierarchy.group())}};
    if (hierarchy.has_between()) {
        Phase phase = hierarchy.between();
        const bool stays = is_root && (hierarchy.has_inside() || hierarchy.is_in_place());
        phase.placement = stays ? Placement::in_place : Placement::separate;
        for (std::int32_t group = 0; group < hierarchy.group_count(); ++group)
            phase.lengths.push_back(hierarchy.group_size(group));
        phase.input = window(BufferId::input, 0, phase.lengths);
        phase.output = {BufferId::output, {0}};
        if (!is_root && hierarchy.has_inside()) {
            blocks = {BufferId::scratch, {composition.take_scratch(hierarchy.group_size())}};
            phase.output = blocks;
        }
        composition.add(phase);
    }
    if (hierarchy.has_inside()) {
        Phase phase = hierarchy.down();
        phase.placement = hierarchy.shape().placement;
        phase.lengths.assign(hierarchy.group_size(), 1);
        phase.input = window(blocks.buffer, blocks.begins[0], phase.lengths);
        phase.output = {BufferId::output, {0}};
        composition.add(phase);
    }
    if (hierarchy.size() == 1 && !hierarchy.is_in_place())
        composition.builder().copy(input_slice(0), output_slice(0));
    return hierarchy.finish(std::move(composition));
}

}  // namespace dlrt::coll
