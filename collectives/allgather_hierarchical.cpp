// SPDX-License-Identifier: Apache-2.0
/// Hierarchical all-gather: each group gathers at its leader, the leaders exchange what their
/// groups have, and each group is told everything.
///
/// For G groups of s ranks: 2 log2 s alpha + log2 s n beta within, log2 G alpha + n (G-1)/G beta
/// between. Any groups. Best for short blocks where hosts are far from each other. Source:
/// folklore; the parts are gather_binomial.cpp, allgather_circulant.cpp and bcast_binomial.cpp.
///
///   2 groups of 2:   1>0 [1]  3>2 [3]   0<>2 [0 1] [2 3]   0>1 2>3 [0 1 2 3]
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::allgather,
    "hierarchical",
    {Collective::gather, "binomial"},
    {Collective::allgather, "circulant"},
    {Collective::bcast, "binomial"},
};

}  // namespace

Schedule allgather_hierarchical(const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    Composition composition(
        hierarchy.header(ChunkRule::block, hierarchy.size()), hierarchy.shape()
    );
    const auto rank = static_cast<std::uint32_t>(hierarchy.shape().rank);
    const bool is_in_place = hierarchy.is_in_place();
    const Window own{hierarchy.own(), {is_in_place ? rank : 0}};
    if (hierarchy.has_inside()) {
        Phase phase = hierarchy.up();
        const bool is_there = hierarchy.is_leader() && is_in_place;
        phase.placement = is_there ? Placement::in_place : Placement::separate;
        phase.lengths.assign(hierarchy.group_size(), 1);
        phase.input = own;
        const std::uint32_t first = hierarchy.first_of(hierarchy.group());
        phase.output = window(BufferId::output, first, phase.lengths);
        composition.add(phase);
    }
    if (hierarchy.has_between()) {
        Phase phase = hierarchy.between();
        const bool is_there = hierarchy.has_inside() || is_in_place;
        phase.placement = is_there ? Placement::in_place : Placement::separate;
        for (std::int32_t group = 0; group < hierarchy.group_count(); ++group)
            phase.lengths.push_back(hierarchy.group_size(group));
        phase.input = own;
        phase.output = window(BufferId::output, 0, phase.lengths);
        composition.add(phase);
    }
    if (hierarchy.has_inside()) {
        Phase phase = hierarchy.down();
        phase.lengths = divided(hierarchy.size(), chunk_count_of(phase));
        phase.output = window(BufferId::output, 0, phase.lengths);
        composition.add(phase);
    }
    if (hierarchy.size() == 1 && !is_in_place)
        composition.builder().copy(input_slice(0), output_slice(0));
    return hierarchy.finish(std::move(composition));
}

}  // namespace dlrt::coll
