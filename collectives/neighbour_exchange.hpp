// SPDX-License-Identifier: Apache-2.0
/// Exchanges between neighbours: each rank sends to its targets and receives from its sources,
/// whatever graph these make. A rank knows its own neighbours only, so the builder is given them
/// instead of deriving them from the shape.
///
/// Input and output have a block for each target and source (neighbor_allgather: one input block
/// for all targets). The k-th edge from i to j in a lane of i's targets is the k-th from i in that
/// lane of j's sources; an edge of a rank to itself is a copy. Pure functions, O(neighbours).
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>
#include <vector>

namespace dlrt::coll {

/// At the border of a grid there is a place for a neighbour, but none in it.
inline constexpr std::int32_t no_neighbour = -1;

/// An edge, seen from one of its ends.
struct Link {
    std::int32_t rank = no_neighbour;
    /// Tells edges between the same ranks apart where their order doesn't.
    std::uint16_t lane = 0;
    friend auto operator<=>(const Link&, const Link&) = default;
};

/// Those of one rank, in the order of its blocks.
struct Neighbours {
    std::vector<Link> sources;
    std::vector<Link> targets;
};

/// One round; each rank has all its messages under way at once. REQUIRES: a neighbourhood exchange;
/// shape.root is 0 and the placement separate.
[[nodiscard]] Schedule neighbour_exchange(
    Collective collective, const Shape& shape, const Neighbours& neighbours
);

}  // namespace dlrt::coll
