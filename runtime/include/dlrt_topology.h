/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlrt_topology.h: communicators whose ranks have neighbours, and exchanges among these. Include
 * dlrt.h, not this.
 */
#ifndef DLRT_TOPOLOGY_H
#define DLRT_TOPOLOGY_H

#include "dlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Communicators with neighbours ---- */
/* They are communicators like others. dlrt_comm_dup keeps the neighbours, other creations don't. */

/* Collective over comm. Each rank names those that it receives from and those that it sends to, in
 * ranks of comm, which keep their numbers; any of them several times, and itself. The k-th edge
 * from i to j among i's targets is the k-th edge from i among j's sources. An edge that only one of
 * its ranks names is DLRT_ERR_MISMATCH on all ranks. Lists of length 0 may be NULL. */
DLRT_PUBLIC dlrt_err dlrt_comm_create_graph(
    dlrt_comm comm, int32_t in_count, const int32_t* sources, int32_t out_count,
    const int32_t* targets, dlrt_comm* result
);
/* Collective over comm, with the same arguments everywhere, else DLRT_ERR_MISMATCH on all ranks. A
 * grid of sizes[0] x sizes[1] x ... ranks, the first ones of comm, which keep their numbers: the
 * last coordinate runs fastest. periodic[i] other than 0: dimension i closes to a ring. The ranks
 * beyond the grid get DLRT_COMM_NULL. Without dimensions it is one rank. */
DLRT_PUBLIC dlrt_err dlrt_comm_create_cart(
    dlrt_comm comm, int32_t dimensions, const int32_t* sizes, const int* periodic, dlrt_comm* result
);

/* Local operations on a grid; DLRT_ERR_COMM on other communicators. coordinates has one entry for
 * each dimension. */
DLRT_PUBLIC dlrt_err dlrt_cart_coordinates(dlrt_comm comm, int32_t rank, int32_t* coordinates);
/* Coordinates of a periodic dimension wrap around. One that is outside of another dimension gives
 * DLRT_PROC_NULL. */
DLRT_PUBLIC dlrt_err dlrt_cart_rank(dlrt_comm comm, const int32_t* coordinates, int32_t* rank);
/* The ranks for a shift along a dimension: who sends to the caller, and to whom the caller sends.
 * DLRT_PROC_NULL beyond a border. */
DLRT_PUBLIC dlrt_err dlrt_cart_shift(
    dlrt_comm comm, int32_t dimension, int32_t displacement, int32_t* source, int32_t* target
);

/* Local operations on graphs and grids; DLRT_ERR_COMM on other communicators. On a grid of n
 * dimensions both counts are 2n: for each dimension the neighbour in the negative direction, then
 * that in the positive one, DLRT_PROC_NULL beyond a border. */
DLRT_PUBLIC dlrt_err dlrt_neighbor_count(dlrt_comm comm, int32_t* in_count, int32_t* out_count);
/* At most the first in_max sources and out_max targets. Lists of length 0 may be NULL. */
DLRT_PUBLIC dlrt_err
dlrt_neighbors(dlrt_comm comm, int32_t in_max, int32_t* sources, int32_t out_max, int32_t* targets);

/* ---- Exchanges between neighbours: collective over the communicator ---- */
/*
 * Forms, lists and rules are those of dlrt_collective.h, with a block for each neighbour in the
 * order of dlrt_neighbors instead of one for each rank: from the sources in output, for the targets
 * in input. The block of DLRT_PROC_NULL is neither read nor written. On a grid what is sent in the
 * positive direction of a dimension arrives in the receiver's block for its negative one, also
 * where both neighbours are the same rank. DLRT_IN_PLACE is not valid.
 */

/* The same `count` elements to all targets; `count` from each source. */
DLRT_PUBLIC dlrt_err dlrt_neighbor_allgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ineighbor_allgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_neighbor_allgather_init(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
);

/* The same with counts[i] elements from source i, which sends that many. */
DLRT_PUBLIC dlrt_err dlrt_neighbor_allgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ineighbor_allgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_neighbor_allgatherv_init(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
);

/* `count` elements for each target in input, from each source in output. */
DLRT_PUBLIC dlrt_err dlrt_neighbor_alltoall(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ineighbor_alltoall(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_neighbor_alltoall_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);

/* What a rank sends along an edge has as many elements as the other asks for. */
DLRT_PUBLIC dlrt_err dlrt_neighbor_alltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ineighbor_alltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_neighbor_alltoallv_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
);

/* The same with a type for each block, and displacements in bytes. */
DLRT_PUBLIC dlrt_err dlrt_neighbor_alltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_ineighbor_alltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_neighbor_alltoallw_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
);

#ifdef __cplusplus
}
#endif

#endif /* DLRT_TOPOLOGY_H */
