// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/topology_site.hpp"

namespace dlrt::mpi {

int give_topology(
    const Site& site, const Result<CommunicatorRef>& made, TopologyFacts facts, MPI_Comm* result
) {
    if (!made) return class_of(made.error());
    if (*made == nullptr) {
        *result = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    CommRef comm = wrap(*made, site.comm().error_handler);
    comm->topology = std::move(facts);
    return site.give(std::move(comm), result);
}

int require_intra(const Site& site) {
    if (!site.core().is_between_groups()) return MPI_SUCCESS;
    return site.bad(MPI_ERR_COMM, "comm is an intercommunicator");
}

int require_kind(const Site& site, int kind) {
    if (site.comm().topology.kind == kind) return MPI_SUCCESS;
    const char* const name = kind == MPI_CART    ? "a Cartesian grid"
                             : kind == MPI_GRAPH ? "a graph"
                                                 : "a distributed graph";
    return site.bad(MPI_ERR_TOPOLOGY, "the communicator isn't {}", name);
}

const coll::Grid& grid_of(const Site& site) {
    return *site.core().topology()->grid();
}

int check_rank(const Site& site, int rank) {
    if (rank >= 0 && rank < site.core().size()) return MPI_SUCCESS;
    return site.bad(MPI_ERR_RANK, "rank {} is not in 0..{}", rank, site.core().size() - 1);
}

}  // namespace dlrt::mpi
