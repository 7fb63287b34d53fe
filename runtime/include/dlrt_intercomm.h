/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlrt_intercomm.h: communicators between two groups. Include dlrt.h, not this.
 */
#ifndef DLRT_INTERCOMM_H
#define DLRT_INTERCOMM_H

#include "dlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Communicators between two groups ---- */
/*
 * Two groups without a common member. dlrt_comm_size, dlrt_comm_rank and dlrt_comm_group tell of
 * the own one. In messages and probes ranks are those of the other group. dlrt_comm_dup,
 * dlrt_comm_split (by color on both sides; DLRT_COMM_NULL where the other group has nobody of the
 * color), dlrt_comm_compare and dlrt_comm_free work; other creations are DLRT_ERR_COMM.
 *
 * Collectives move data from one group to the other, never within one; buffers and lists have a
 * block for each rank of the other group where they have one for each rank elsewhere.
 *  - dlrt_bcast, dlrt_reduce, dlrt_gather(v), dlrt_scatter(v): the root passes DLRT_ROOT as root,
 *    the others of its group DLRT_PROC_NULL, and take no part; the other group passes the root's
 *    rank.
 *  - dlrt_allreduce: each group gets the reduction of the other's input, in the order of ranks.
 *  - dlrt_reduce_scatter(v): so is dlrt_allreduce, of which each rank gets its share; counts are
 *    those of the own group, and both groups' vectors have the same length.
 *  - dlrt_allgather(v), dlrt_alltoall(v, w): each rank gets from all of the other group.
 *  - dlrt_barrier: left when all of the other group have entered.
 *  - dlrt_scan, dlrt_exscan: DLRT_ERR_COMM.
 * DLRT_IN_PLACE is not valid.
 */

/* Collective over both groups; each passes a communicator of its own with its leader's rank there.
 * The leaders also pass a communicator that both are in, and the other leader's rank in it; tag
 * tells apart creations that they make at once. A process in both groups is DLRT_ERR_GROUP on all
 * ranks. */
DLRT_PUBLIC dlrt_err dlrt_intercomm_create(
    dlrt_comm local_comm, int32_t local_leader, dlrt_comm peer_comm, int32_t remote_leader,
    int32_t tag, dlrt_comm* result
);
/* One communicator of all. The ranks of a group pass the same `high`: a group with 0 comes before
 * one with another value; where both pass the same, the order is the library's. */
DLRT_PUBLIC dlrt_err dlrt_intercomm_merge(dlrt_comm inter, int high, dlrt_comm* result);
/* 1 between two groups, else 0. */
DLRT_PUBLIC dlrt_err dlrt_comm_is_inter(dlrt_comm comm, int* is_inter);
/* Of the other group. DLRT_ERR_COMM where there is none. */
DLRT_PUBLIC dlrt_err dlrt_comm_remote_size(dlrt_comm comm, int32_t* size);
DLRT_PUBLIC dlrt_err dlrt_comm_remote_group(dlrt_comm comm, dlrt_group* group);

#ifdef __cplusplus
}
#endif

#endif /* DLRT_INTERCOMM_H */
