// SPDX-License-Identifier: Apache-2.0
/// Hierarchical reduction: each group reduces to its leader, the leaders to the root. For long
/// vectors pipelined, by chains within and between.
///
/// For G groups of s ranks: log2 s (alpha + n beta + n gamma) within, log2 G between; pipelined, in
/// k = 32 chunks, (k + G + s) (alpha + n/k (beta + gamma)). Any groups, any root; where groups are
/// not of neighbours, the operation must commute. Best where hosts are far from each other: one
/// vector leaves each. Source: folklore; the parts are reduce_binomial.cpp and reduce_chain.cpp.
///
///   2 groups of 2, root 0:   1>0 3>2   2>0
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe short_recipe{
    Collective::reduce,
    "hierarchical",
    {Collective::reduce, "binomial"},
    {Collective::reduce, "binomial"},
    {},
};
constexpr Recipe long_recipe{
    Collective::reduce,
    "hierarchical_pipelined",
    {Collective::reduce, "chain"},
    {Collective::reduce, "chain"},
    {},
};

Schedule reduce_over_groups(const Recipe& recipe, const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    const std::uint32_t chunk_count = hierarchy.common_chunk_count();
    Composition composition(hierarchy.header(ChunkRule::split, chunk_count), hierarchy.shape());
    const bool is_root = hierarchy.shape().rank == hierarchy.shape().root;
    BufferId value = hierarchy.own();
    std::uint32_t value_first = 0;
    const auto add = [&](Phase phase, BufferId sum, std::uint32_t sum_first) {
        phase.lengths = divided(chunk_count, chunk_count_of(phase));
        phase.placement = value == sum ? Placement::in_place : Placement::separate;
        phase.input = window(value, value_first, phase.lengths);
        phase.output = window(sum, sum_first, phase.lengths);
        composition.add(phase);
        value = sum;
        value_first = sum_first;
    };
    if (hierarchy.has_inside()) {
        const bool hands_on = hierarchy.is_leader() && !is_root;
        const BufferId sum = is_root ? BufferId::output : BufferId::scratch;
        add(hierarchy.up(), sum, hands_on ? composition.take_scratch(chunk_count) : 0);
    }
    if (hierarchy.has_between()) add(hierarchy.between(), BufferId::output, 0);
    if (hierarchy.size() == 1 && !hierarchy.is_in_place()) {
        composition.builder().copy(input_slice(0, chunk_count), output_slice(0, chunk_count));
    }
    return hierarchy.finish(std::move(composition));
}

}  // namespace

Schedule reduce_hierarchical(const Shape& shape) {
    return reduce_over_groups(short_recipe, shape);
}

Schedule reduce_hierarchical_pipelined(const Shape& shape) {
    return reduce_over_groups(long_recipe, shape);
}

}  // namespace dlrt::coll
