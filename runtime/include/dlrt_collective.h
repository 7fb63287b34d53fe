/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlrt_collective.h: the collective operations of dlrt.h. Include dlrt.h, not this.
 */
#ifndef DLRT_COLLECTIVE_H
#define DLRT_COLLECTIVE_H

#include "dlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Collectives: called by all ranks of the communicator in the same order ---- */
/*
 * Each has three forms. dlrt_X returns when this rank's part is done. dlrt_iX begins it and gives a
 * request. dlrt_X_init gives a persistent request, which dlrt_start begins any number of times;
 * _init itself is called in the same order on all ranks, starts need not be. The forms don't mix:
 * all ranks use the same one. Lists of counts, displacements and types are read during the call
 * only; buffers belong to the operation until it is complete.
 *
 * Lists have one entry for each rank. displacements are in elements and may be NULL: the blocks
 * then lie one after the other.
 *
 * DLRT_IN_PLACE stands for a rank's own share where that lies in its other buffer already. Input
 * and output must not overlap otherwise. Where it is allowed:
 *  - dlrt_reduce: input, at the root; the root's share is taken from output.
 *  - dlrt_allreduce, dlrt_scan, dlrt_exscan: input; the share is taken from output.
 *  - dlrt_gather(v): input, at the root; its share is in output, where its block belongs.
 *  - dlrt_scatter(v): output, at the root; its share stays in input.
 *  - dlrt_allgather(v): input; the share is in output, where its block belongs.
 *  - dlrt_reduce_scatter(v): input; all blocks are taken from output, which then begins with the
 *    result; what follows it is undefined.
 *  - dlrt_alltoall(v, w): input; what is sent is taken from output, with its counts and types. All
 *    ranks do the same.
 *
 * In the others each rank decides for itself. Anywhere else it is DLRT_ERR_BUFFER.
 */

#ifdef __cplusplus
#define DLRT_IN_PLACE (reinterpret_cast<void*>(-1))
#else
#define DLRT_IN_PLACE ((void*)-1)
#endif

DLRT_PUBLIC dlrt_err dlrt_barrier(dlrt_comm comm);
DLRT_PUBLIC dlrt_err dlrt_ibarrier(dlrt_comm comm, dlrt_request* request);
DLRT_PUBLIC dlrt_err dlrt_barrier_init(dlrt_comm comm, dlrt_request* request);

DLRT_PUBLIC dlrt_err
dlrt_bcast(void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm);
DLRT_PUBLIC dlrt_err dlrt_ibcast(
    void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_bcast_init(
    void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
);

/* output is significant at the root only. */
DLRT_PUBLIC dlrt_err dlrt_reduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ireduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm, dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_reduce_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm, dlrt_request* request
);

/* The same bits on every rank. */
DLRT_PUBLIC dlrt_err dlrt_allreduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_iallreduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_allreduce_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);

/* output: the reduction of ranks 0 .. this one, in their order. */
DLRT_PUBLIC dlrt_err dlrt_scan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_iscan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_scan_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);

/* output: the reduction of ranks 0 .. this one - 1; that of rank 0 is left alone and may be NULL.
 */
DLRT_PUBLIC dlrt_err dlrt_exscan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_iexscan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_exscan_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);

/* input: size * count elements; output: the reduction of the `count` ones for this rank. */
DLRT_PUBLIC dlrt_err dlrt_reduce_scatter(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ireduce_scatter(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_reduce_scatter_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
);

/* Every rank contributes `count` elements; the root gets size * count, by rank. */
DLRT_PUBLIC dlrt_err dlrt_gather(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_igather(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_gather_init(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm,
    dlrt_request* request
);

/* The root's size * count elements, `count` to each rank. */
DLRT_PUBLIC dlrt_err dlrt_scatter(
    const void* input, void* output, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_iscatter(
    const void* input, void* output, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_scatter_init(
    const void* input, void* output, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm,
    dlrt_request* request
);

DLRT_PUBLIC dlrt_err
dlrt_allgather(const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm);
DLRT_PUBLIC dlrt_err dlrt_iallgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_allgather_init(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
);

/* `count` elements for each rank in input, from each in output, by rank. */
DLRT_PUBLIC dlrt_err
dlrt_alltoall(const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm);
DLRT_PUBLIC dlrt_err dlrt_ialltoall(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_alltoall_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);

/* The root gets counts[i] elements from rank i, at element displacements[i] of output. counts and
 * displacements are significant at the root only. */
DLRT_PUBLIC dlrt_err dlrt_gatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, int32_t root, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_igatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, int32_t root, dlrt_comm comm, dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_gatherv_init(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, int32_t root, dlrt_comm comm, dlrt_request* request
);

/* The root sends counts[i] elements from element displacements[i] of input to rank i, which asks
 * for that many. */
DLRT_PUBLIC dlrt_err dlrt_scatterv(
    const void* input, const int64_t* counts, const int64_t* displacements, void* output,
    int64_t count, dlrt_type type, int32_t root, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_iscatterv(
    const void* input, const int64_t* counts, const int64_t* displacements, void* output,
    int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_scatterv_init(
    const void* input, const int64_t* counts, const int64_t* displacements, void* output,
    int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
);

/* As dlrt_gatherv to every rank: all pass the same counts. */
DLRT_PUBLIC dlrt_err dlrt_allgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_iallgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_allgatherv_init(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
);

/* As dlrt_reduce_scatter, with counts[i] elements for rank i; all pass the same counts. */
DLRT_PUBLIC dlrt_err dlrt_reduce_scatterv(
    const void* input, void* output, const int64_t* counts, dlrt_type type, dlrt_op op,
    dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ireduce_scatterv(
    const void* input, void* output, const int64_t* counts, dlrt_type type, dlrt_op op,
    dlrt_comm comm, dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_reduce_scatterv_init(
    const void* input, void* output, const int64_t* counts, dlrt_type type, dlrt_op op,
    dlrt_comm comm, dlrt_request* request
);

/* What rank i sends to rank j has as many elements as j asks for from i. */
DLRT_PUBLIC dlrt_err dlrt_alltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ialltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_alltoallv_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);

/* The same with a type for each block, and displacements in bytes. */
DLRT_PUBLIC dlrt_err dlrt_alltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ialltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_alltoallw_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
);

#ifdef __cplusplus
}
#endif

#endif /* DLRT_COLLECTIVE_H */
