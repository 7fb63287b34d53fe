// SPDX-License-Identifier: Apache-2.0
/// Hierarchical all-reduce: each group reduces to its leader, the leaders all-reduce, and each
/// group is told.
///
/// For G groups of s ranks: 2 log2 s (alpha + n beta) + log2 s n gamma within, log2 G (alpha + n
/// beta + n gamma) between. Any groups; where they are not of neighbours, the operation must
/// commute. Best for short vectors where hosts are far from each other. Source: folklore; the parts
/// are reduce_binomial.cpp, allreduce_recursive_doubling.cpp and bcast_binomial.cpp.
///
///   2 groups of 2:   1>0 3>2   0<>2   0>1 2>3
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::allreduce,
    "hierarchical",
    {Collective::reduce, "binomial"},
    {Collective::allreduce, "recursive_doubling"},
    {Collective::bcast, "binomial"},
};

}  // namespace

Schedule allreduce_hierarchical(const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    const std::uint32_t chunk_count = hierarchy.common_chunk_count();
    Composition composition(hierarchy.header(ChunkRule::split, chunk_count), hierarchy.shape());
    BufferId value = hierarchy.own();
    const auto add = [&](Phase phase) {
        phase.lengths = divided(chunk_count, chunk_count_of(phase));
        const bool has_choice = phase.self == phase.root || !phase.algorithm->has_root;
        const bool is_in_place = has_choice && value == BufferId::output;
        phase.placement = is_in_place ? Placement::in_place : Placement::separate;
        phase.input = window(value, 0, phase.lengths);
        phase.output = window(BufferId::output, 0, phase.lengths);
        composition.add(phase);
        if (hierarchy.is_leader()) value = BufferId::output;
    };
    if (hierarchy.has_inside()) add(hierarchy.up());
    if (hierarchy.has_between()) add(hierarchy.between());
    if (hierarchy.has_inside()) add(hierarchy.down());
    if (hierarchy.size() == 1 && !hierarchy.is_in_place()) {
        composition.builder().copy(input_slice(0, chunk_count), output_slice(0, chunk_count));
    }
    return hierarchy.finish(std::move(composition));
}

}  // namespace dlrt::coll
