// SPDX-License-Identifier: Apache-2.0
/// Chapter: communicators between two groups.
#include "functions.hpp"
#include "runtime/communicator_pair.hpp"
#include "runtime/mpi/surface.hpp"

namespace dlrt::mpi {
namespace {

int require_inter(const Site& site) {
    if (site.core().is_between_groups()) return MPI_SUCCESS;
    return site.bad(MPI_ERR_COMM, "comm isn't an intercommunicator");
}

/// What only the leader's arguments say.
int use_bridge(const Site& site, MPI_Comm peer_comm, Bridge& bridge, Use<Comm>& peer) {
    if (const int wrong = site.use(peer_comm, peer, "peer_comm")) return wrong;
    bridge.comm = peer->core.get();
    const std::int32_t size = bridge.comm->peer_count();
    if (bridge.remote_leader >= 0 && bridge.remote_leader < size) return MPI_SUCCESS;
    return site.bad(
        MPI_ERR_RANK, "remote_leader {} is not in 0..{}", bridge.remote_leader, size - 1
    );
}

}  // namespace

int MPI_Comm_test_inter(MPI_Comm comm, int* flag) {
    const Site site("MPI_Comm_test_inter", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    *flag = site.core().is_between_groups() ? 1 : 0;
    return MPI_SUCCESS;
}

int MPI_Comm_remote_size(MPI_Comm comm, int* size) {
    const Site site("MPI_Comm_remote_size", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = require_inter(site)) return site.raise(wrong);
    if (const int wrong = site.require(size, "size")) return site.raise(wrong);
    *size = site.core().peer_count();
    return MPI_SUCCESS;
}

int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
    const Site site("MPI_Comm_remote_group", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = require_inter(site)) return site.raise(wrong);
    if (const int wrong = site.require(group, "group")) return site.raise(wrong);
    const int wrong = site.give(site.core().peers(), group);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Intercomm_create(
    MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
    MPI_Comm* newintercomm
) {
    const Site site("MPI_Intercomm_create", local_comm);
    if (!site.ok()) return site.error();
    Communicator& local = site.core();
    if (local.is_between_groups()) {
        return site.raise(MPI_ERR_COMM, "local_comm is an intercommunicator");
    }
    if (local_leader < 0 || local_leader >= local.size()) {
        return site.raise(
            MPI_ERR_RANK, "local_leader {} is not in 0..{}", local_leader, local.size() - 1
        );
    }
    if (tag < 0) return site.raise(MPI_ERR_TAG, "tag {} is negative", tag);
    if (const int wrong = site.require(newintercomm, "newintercomm")) return site.raise(wrong);
    Bridge bridge{nullptr, remote_leader, tag};
    Use<Comm> peer;
    if (local.rank() == local_leader) {
        if (const int wrong = use_bridge(site, peer_comm, bridge, peer)) return site.raise(wrong);
    }
    const FlightMark mark(site.surface(), record_of(Call::comm_create, local));
    const Result<CommunicatorRef> made = create_pair(local, local_leader, bridge, new_context);
    const int wrong = give_created(site, made, site.comm(), newintercomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
    const Site site("MPI_Intercomm_merge", intercomm);
    if (!site.ok()) return site.error();
    if (const int wrong = require_inter(site)) return site.raise(wrong);
    if (const int wrong = site.require(newintracomm, "newintracomm")) return site.raise(wrong);
    const FlightMark mark(site.surface(), record_of(Call::comm_create, site.core()));
    const Result<CommunicatorRef> made = merge_pair(
        site.core(), high != 0 ? MergeOrder::high : MergeOrder::low, new_context
    );
    const int wrong = give_created(site, made, site.comm(), newintracomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

}  // namespace dlrt::mpi
