// SPDX-License-Identifier: Apache-2.0
/// What functions about grids and graphs share.
#pragma once

#include "runtime/mpi/surface.hpp"

namespace dlrt::mpi {

/// Makes it MPI's: with the parent's error handler, and what the core's topology doesn't keep.
int give_topology(
    const Site& site, const Result<CommunicatorRef>& made, TopologyFacts facts, MPI_Comm* result
);

/// Others than grids and graphs can't be made of a communicator between two groups.
int require_intra(const Site& site);
/// Errors: MPI_ERR_TOPOLOGY.
int require_kind(const Site& site, int kind);
/// REQUIRES: require_kind(MPI_CART).
[[nodiscard]] const coll::Grid& grid_of(const Site& site);
int check_rank(const Site& site, int rank);

}  // namespace dlrt::mpi
