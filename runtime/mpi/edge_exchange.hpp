// SPDX-License-Identifier: Apache-2.0
/// Edges of a graph that any rank may name, told to the two ranks that they join. Collective.
#pragma once

#include "runtime/communicator.hpp"

#include <span>
#include <vector>

namespace dlrt::mpi {

struct Edge {
    int source = 0;
    int target = 0;
    int weight = 0;
};

struct NeighbourLists {
    std::vector<int> sources, source_weights;
    std::vector<int> targets, target_weights;
};

/// Edges between two ranks are in the same order on both.
Status exchange_edges(Communicator& comm, std::span<const Edge> edges, NeighbourLists& lists);

}  // namespace dlrt::mpi
