// SPDX-License-Identifier: Apache-2.0
/// Communicators between two groups: their creation, and questions about them.
#include "runtime/api/call_group.hpp"
#include "runtime/api/communicator_site.hpp"
#include "runtime/communicator_pair.hpp"

using namespace dlrt;
using namespace dlrt::api;

namespace {

Status use_pair(const Site& site, dlrt_comm comm, Use<Communicator>& use) {
    if (const Status bad = site.use(comm, use); !bad.ok()) return bad;
    if (use.pointer->is_between_groups()) return {};
    return site.fail(Errc::communicator, "the communicator has one group only");
}

/// At the leader: whom it meets, and where.
Status find_bridge(
    const Site& site, const Communicator& local, const Use<Communicator>& shared,
    std::int32_t remote_leader, Bridge& bridge
) {
    Communicator& comm = *shared.pointer;
    if (remote_leader < 0 || remote_leader >= comm.peer_count()) {
        return site.fail(
            Errc::rank, "the other leader, rank {} of peer_comm, is not in 0..{}", remote_leader,
            comm.peer_count() - 1
        );
    }
    const WorldRank other = comm.peer_world_rank(remote_leader);
    if (local.group()->rank_of(other) != undefined_rank) {
        return site.fail(
            Errc::rank, "the other leader, rank {} of peer_comm, is in the own group", remote_leader
        );
    }
    bridge.comm = &comm;
    bridge.remote_leader = remote_leader;
    return {};
}

}  // namespace

dlrt_err dlrt_intercomm_create(
    dlrt_comm local_comm, int32_t local_leader, dlrt_comm peer_comm, int32_t remote_leader,
    int32_t tag, dlrt_comm* result
) {
    const Site site("dlrt_intercomm_create");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> local, shared;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_one_group(site, local_comm, local); !bad.ok()) return to_c(bad);
    if (local_leader < 0 || local_leader >= local.pointer->size()) {
        return to_c(site.fail(
            Errc::rank, "the leader, rank {}, is not in 0..{}", local_leader,
            local.pointer->size() - 1
        ));
    }
    if (tag < 0) return to_c(site.fail(Errc::tag, "tag {} is negative", tag));
    Bridge bridge{.tag = tag};
    if (local.pointer->rank() == local_leader) {
        if (const Status bad = site.use(peer_comm, shared); !bad.ok()) return to_c(bad);
        const Status bad = find_bridge(site, *local.pointer, shared, remote_leader, bridge);
        if (!bad.ok()) return to_c(bad);
    }
    const FlightMark mark(site, record_of(Call::comm_create, *local.pointer));
    return give_created(
        site, create_pair(*local.pointer, local_leader, bridge, new_context), result
    );
}

dlrt_err dlrt_intercomm_merge(dlrt_comm inter, int high, dlrt_comm* result) {
    const Site site("dlrt_intercomm_merge");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> use;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_pair(site, inter, use); !bad.ok()) return to_c(bad);
    const FlightMark mark(site, record_of(Call::comm_create, *use.pointer));
    const MergeOrder order = high != 0 ? MergeOrder::high : MergeOrder::low;
    return give_created(site, merge_pair(*use.pointer, order, new_context), result);
}

dlrt_err dlrt_comm_is_inter(dlrt_comm comm, int* is_inter) {
    const Site site("dlrt_comm_is_inter");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(is_inter, "is_inter"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    *is_inter = use.pointer->is_between_groups() ? 1 : 0;
    return DLRT_OK;
}

dlrt_err dlrt_comm_remote_size(dlrt_comm comm, int32_t* size) {
    const Site site("dlrt_comm_remote_size");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(size, "size"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_pair(site, comm, use); !bad.ok()) return to_c(bad);
    *size = use.pointer->peer_count();
    return DLRT_OK;
}

dlrt_err dlrt_comm_remote_group(dlrt_comm comm, dlrt_group* group) {
    const Site site("dlrt_comm_remote_group");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(group, "group"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_pair(site, comm, use); !bad.ok()) return to_c(bad);
    return to_c(site.give(use.pointer->peers(), group));
}
