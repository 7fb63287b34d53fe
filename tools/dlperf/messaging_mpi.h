/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of messaging.h on plain mpi.h, whose default error handler ends the program. */
#ifndef DLPERF_MESSAGING_MPI_H
#define DLPERF_MESSAGING_MPI_H

#include <mpi.h>
#include <stdio.h>

#define MESSAGING_NAME "mpi"
typedef MPI_Request msg_request;
typedef int msg_count; /* in lists of counts and displacements */

static inline void msg_init(int has_threads) {
    int provided = 0;
    const int required = has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(NULL, NULL, required, &provided);
    if (provided >= required) return;
    fprintf(stderr, "dlperf: this MPI library does not allow several threads\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
}
static inline void msg_finalize(void) {
    MPI_Finalize();
}
static inline int msg_rank(void) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
static inline int msg_size(void) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}
static inline void* msg_alloc(size_t size_bytes) {
    void* memory = NULL;
    MPI_Alloc_mem((MPI_Aint)size_bytes, MPI_INFO_NULL, &memory);
    return memory;
}
static inline void msg_free(void* memory) {
    MPI_Free_mem(memory);
}
static inline void msg_send(const void* data, size_t size_bytes, int peer, int tag) {
    MPI_Send(data, (int)size_bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}
static inline void msg_recv(void* data, size_t size_bytes, int peer, int tag) {
    MPI_Recv(data, (int)size_bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static inline void msg_isend(
    const void* data, size_t size_bytes, int peer, int tag, msg_request* request
) {
    MPI_Isend(data, (int)size_bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
}
static inline void msg_irecv(
    void* data, size_t size_bytes, int peer, int tag, msg_request* request
) {
    MPI_Irecv(data, (int)size_bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
}
static inline void msg_waitall(int count, msg_request* requests) {
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}
static inline void msg_barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}
static inline void msg_broadcast(float* data, size_t count, int root) {
    MPI_Bcast(data, (int)count, MPI_FLOAT, root, MPI_COMM_WORLD);
}
static inline void msg_reduce(const float* input, float* output, size_t count, int root) {
    MPI_Reduce(input, output, (int)count, MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
}
static inline void msg_all_reduce(const float* input, float* output, size_t count) {
    MPI_Allreduce(input, output, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static inline void msg_begin_barrier(msg_request* request) {
    MPI_Ibarrier(MPI_COMM_WORLD, request);
}
static inline void msg_begin_all_reduce(
    const float* input, float* output, size_t count, msg_request* request
) {
    MPI_Iallreduce(input, output, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, request);
}
static inline void msg_reduce_scatter(const float* input, float* output, size_t count_each) {
    MPI_Reduce_scatter_block(input, output, (int)count_each, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static inline void msg_scan(const float* input, float* output, size_t count) {
    MPI_Scan(input, output, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static inline void msg_exclusive_scan(const float* input, float* output, size_t count) {
    MPI_Exscan(input, output, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static inline void msg_all_gatherv(
    const float* input, size_t count, float* output, const msg_count* counts,
    const msg_count* displacements
) {
    MPI_Allgatherv(
        input, (int)count, MPI_FLOAT, output, counts, displacements, MPI_FLOAT, MPI_COMM_WORLD
    );
}
static inline void msg_all_to_all(const float* input, float* output, size_t count_each) {
    MPI_Alltoall(
        input, (int)count_each, MPI_FLOAT, output, (int)count_each, MPI_FLOAT, MPI_COMM_WORLD
    );
}
static inline void msg_all_to_allv(
    const float* input, float* output, const msg_count* counts, const msg_count* displacements
) {
    MPI_Alltoallv(
        input, counts, displacements, MPI_FLOAT, output, counts, displacements, MPI_FLOAT,
        MPI_COMM_WORLD
    );
}
static inline void msg_all_gather(const float* input, float* output, size_t count_each) {
    MPI_Allgather(
        input, (int)count_each, MPI_FLOAT, output, (int)count_each, MPI_FLOAT, MPI_COMM_WORLD
    );
}
static inline void msg_gather(const float* input, float* output, size_t count_each, int root) {
    MPI_Gather(
        input, (int)count_each, MPI_FLOAT, output, (int)count_each, MPI_FLOAT, root, MPI_COMM_WORLD
    );
}
static inline void msg_scatter(const float* input, float* output, size_t count_each, int root) {
    MPI_Scatter(
        input, (int)count_each, MPI_FLOAT, output, (int)count_each, MPI_FLOAT, root, MPI_COMM_WORLD
    );
}

#endif
