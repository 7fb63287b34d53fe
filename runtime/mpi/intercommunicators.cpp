// SPDX-License-Identifier: Apache-2.0
/// Chapter: communicators between two groups.
#include "runtime/communicator_pair.hpp"
#include "runtime/mpi/surface.hpp"

#include <algorithm>
#include <mpi_functions.hpp>

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

namespace {

/// A communicator of the ranks of a group, which all of them make together.
Result<CommunicatorRef> meet(const Site& site, const GroupRef& group, const std::string& text) {
    const WorldRank self = site.surface().world->core->rank();
    const Meeting meeting{site.engine(), Core::get()->meeting_context(), self, text};
    return create_from_group(meeting, group, new_context);
}

int check_leader(const Site& site, const char* name, int leader, const Group& group) {
    if (leader >= 0 && leader < group.size()) return MPI_SUCCESS;
    return site.bad(MPI_ERR_ARG, "{} {} is not in 0..{}", name, leader, group.size() - 1);
}

}  // namespace

int MPI_Intercomm_create_from_groups(
    MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
    const char* stringtag, MPI_Info, MPI_Errhandler errhandler, MPI_Comm* newintercomm
) {
    const Site site("MPI_Intercomm_create_from_groups");
    if (!site.ok()) return site.error();
    GroupRef own, other;
    ErrorHandlerRef handler;
    int wrong = site.use(local_group, own, "local_group");
    if (wrong == MPI_SUCCESS) wrong = site.use(remote_group, other, "remote_group");
    if (wrong == MPI_SUCCESS) wrong = site.require(stringtag, "stringtag");
    if (wrong == MPI_SUCCESS) wrong = site.use(errhandler, handler);
    if (wrong == MPI_SUCCESS) wrong = site.require(newintercomm, "newintercomm");
    if (wrong == MPI_SUCCESS) wrong = check_leader(site, "local_leader", local_leader, *own);
    if (wrong == MPI_SUCCESS) wrong = check_leader(site, "remote_leader", remote_leader, *other);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const FlightMark mark(site.surface(), {.call = Call::comm_create});
    const Result<CommunicatorRef> local = meet(site, own, fmt::format("side {}", stringtag));
    if (!local) return site.raise(local.error());
    Bridge bridge;
    CommunicatorRef leaders;
    if ((*local)->rank() == local_leader) {
        const WorldRank self = own->world_rank(local_leader);
        const WorldRank peer = other->world_rank(remote_leader);
        const auto both = std::make_shared<const Group>(std::vector<WorldRank>{
            std::min(self, peer), std::max(self, peer)});
        const auto met = meet(site, both, fmt::format("leaders {}", stringtag));
        if (!met) return site.raise(met.error());
        leaders = *met;
        bridge = {leaders.get(), both->rank_of(peer), 0};
    }
    const Result<CommunicatorRef> made = create_pair(**local, local_leader, bridge, new_context);
    retire(**local);
    if (leaders != nullptr) retire(*leaders);
    if (!made) return site.raise(made.error());
    wrong = site.give(wrap(*made, handler), newintercomm);
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
