// SPDX-License-Identifier: Apache-2.0
/// Hierarchical gather: each group gathers its blocks at its leader, who sends them on together.
///
/// For G groups of s ranks: log2 s alpha within, log2 G alpha + n (G-1)/G beta at the root between.
/// Any groups, any root. Best for short blocks where hosts are far from each other. Source:
/// folklore; the part is gather_binomial.cpp.
///
///   2 groups of 2, root 0:   1>0 [1]  3>2 [3]   2>0 [2 3]
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::gather,
    "hierarchical",
    {Collective::gather, "binomial"},
    {Collective::gather, "binomial"},
    {},
};

}  // namespace

Schedule gather_hierarchical(const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    Composition composition(
        hierarchy.header(ChunkRule::block, hierarchy.size()), hierarchy.shape()
    );
    const bool is_root = hierarchy.shape().rank == hierarchy.shape().root;
    const std::uint32_t first = hierarchy.first_of(hierarchy.group());
    Window blocks{BufferId::input, {0}};  ///< Of the group, at its leader.
    if (hierarchy.has_inside()) {
        Phase phase = hierarchy.up();
        phase.placement = hierarchy.shape().placement;
        phase.lengths.assign(hierarchy.group_size(), 1);
        phase.input = blocks;
        if (is_root) {
            phase.output = window(BufferId::output, first, phase.lengths);
        } else if (hierarchy.is_leader()) {
            const std::uint32_t place = composition.take_scratch(hierarchy.group_size());
            phase.output = window(BufferId::scratch, place, phase.lengths);
        }
        composition.add(phase);
        blocks = phase.output;
    }
    if (hierarchy.has_between()) {
        Phase phase = hierarchy.between();
        const bool is_there = is_root && (hierarchy.has_inside() || hierarchy.is_in_place());
        phase.placement = is_there ? Placement::in_place : Placement::separate;
        for (std::int32_t group = 0; group < hierarchy.group_count(); ++group)
            phase.lengths.push_back(hierarchy.group_size(group));
        phase.input = blocks;
        phase.output = window(BufferId::output, 0, phase.lengths);
        composition.add(phase);
    }
    if (hierarchy.size() == 1 && !hierarchy.is_in_place())
        composition.builder().copy(input_slice(0), output_slice(0));
    return hierarchy.finish(std::move(composition));
}

}  // namespace dlrt::coll
