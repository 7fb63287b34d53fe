// SPDX-License-Identifier: Apache-2.0
/// Makes communicators whose ranks have neighbours. Collective over the parent, and so are the
/// errors: where ranks don't agree, all of them learn which ones and get none.
#pragma once

#include "runtime/communicator_create.hpp"
#include "runtime/topology.hpp"

#include <cstdint>
#include <span>

namespace dlrt {

/// A rank's own edges, by ranks of the parent. Any number between two ranks, and to itself.
struct OwnEdges {
    std::span<const std::int32_t> sources;
    std::span<const std::int32_t> targets;
};

/// REQUIRES: ranks of the parent only. The k-th edge from i to j in i's targets is the k-th from i
/// in j's sources. Errors: Errc::mismatch when two ranks count the edges between them otherwise.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> create_graph(
    Communicator& parent, const OwnEdges& edges, const ContextSource& new_context
);

/// REQUIRES: grid.rank_count() <= parent.size(). Null for ranks that are not in the grid, the last
/// ones of the parent. Errors: Errc::mismatch when ranks ask for different grids.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> create_cart(
    Communicator& parent, const coll::Grid& grid, const ContextSource& new_context
);

}  // namespace dlrt
