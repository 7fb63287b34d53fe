// SPDX-License-Identifier: Apache-2.0
/// Hierarchical broadcast: the root tells one rank of each other group, and these their groups. For
/// long vectors pipelined: a circulant graph between the groups, chains within them, and chunks go
/// on as they come.
///
/// For G groups of s ranks: log2 G (alpha + n beta) between them, log2 s within; pipelined, in k =
/// 32 chunks, (k + log2 G + s) (alpha + n/k beta). Any groups, any root. Best where hosts are far
/// from each other: the vector enters each once. Source: folklore; the parts are
/// bcast_binomial.cpp, bcast_circulant.cpp and bcast_chain.cpp.
///
///   2 groups of 2, root 0:   0>2   0>1 2>3
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe short_recipe{
    Collective::bcast,
    "hierarchical",
    {},
    {Collective::bcast, "binomial"},
    {Collective::bcast, "binomial"},
};
constexpr Recipe long_recipe{
    Collective::bcast,
    "hierarchical_pipelined",
    {},
    {Collective::bcast, "circulant"},
    {Collective::bcast, "chain"},
};

Schedule bcast_over_groups(const Recipe& recipe, const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    const std::uint32_t chunk_count = hierarchy.common_chunk_count();
    Composition composition(hierarchy.header(ChunkRule::split, chunk_count), hierarchy.shape());
    const auto add = [&](Phase phase) {
        phase.lengths = divided(chunk_count, chunk_count_of(phase));
        phase.output = window(BufferId::output, 0, phase.lengths);
        composition.add(phase);
    };
    if (hierarchy.has_between()) add(hierarchy.between());
    if (hierarchy.has_inside()) add(hierarchy.down());
    return hierarchy.finish(std::move(composition));
}

}  // namespace

Schedule bcast_hierarchical(const Shape& shape) {
    return bcast_over_groups(short_recipe, shape);
}

Schedule bcast_hierarchical_pipelined(const Shape& shape) {
    return bcast_over_groups(long_recipe, shape);
}

}  // namespace dlrt::coll
