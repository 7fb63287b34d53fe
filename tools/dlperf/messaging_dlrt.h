/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of messaging.h on dlrt. */
#ifndef DLPERF_MESSAGING_DLRT_H
#define DLPERF_MESSAGING_DLRT_H

#include <dlrt.h>

#define MESSAGING_NAME "dlrt"
typedef dlrt_request msg_request;
typedef int64_t msg_count; /* in lists of counts and displacements */

static void msg_check(dlrt_err error) {
    if (error != DLRT_OK) dlrt_abort(1, dlrt_last_error());
}
static inline void msg_init(int has_threads) {
    dlrt_thread_level provided;
    msg_check(dlrt_init_thread(has_threads ? DLRT_THREAD_MULTIPLE : DLRT_THREAD_SINGLE, &provided));
}
static inline void msg_finalize(void) {
    msg_check(dlrt_finalize());
}
static inline int msg_rank(void) {
    int32_t rank = 0;
    msg_check(dlrt_comm_rank(DLRT_COMM_WORLD, &rank));
    return rank;
}
static inline int msg_size(void) {
    int32_t size = 0;
    msg_check(dlrt_comm_size(DLRT_COMM_WORLD, &size));
    return size;
}
static inline void* msg_alloc(size_t size_bytes) {
    void* memory = NULL;
    msg_check(dlrt_alloc(size_bytes, &memory));
    return memory;
}
static inline void msg_free(void* memory) {
    msg_check(dlrt_free(memory));
}
static inline void msg_send(const void* data, size_t size_bytes, int peer, int tag) {
    msg_check(dlrt_send(data, (int64_t)size_bytes, DLRT_BYTE, peer, tag, DLRT_COMM_WORLD));
}
static inline void msg_recv(void* data, size_t size_bytes, int peer, int tag) {
    msg_check(dlrt_recv(data, (int64_t)size_bytes, DLRT_BYTE, peer, tag, DLRT_COMM_WORLD, NULL));
}
static inline void msg_isend(
    const void* data, size_t size_bytes, int peer, int tag, msg_request* request
) {
    msg_check(dlrt_isend(data, (int64_t)size_bytes, DLRT_BYTE, peer, tag, DLRT_COMM_WORLD, request)
    );
}
static inline void msg_irecv(
    void* data, size_t size_bytes, int peer, int tag, msg_request* request
) {
    msg_check(dlrt_irecv(data, (int64_t)size_bytes, DLRT_BYTE, peer, tag, DLRT_COMM_WORLD, request)
    );
}
static inline void msg_waitall(int count, msg_request* requests) {
    msg_check(dlrt_waitall(count, requests, NULL));
}
static inline void msg_barrier(void) {
    msg_check(dlrt_barrier(DLRT_COMM_WORLD));
}
static inline void msg_broadcast(float* data, size_t count, int root) {
    msg_check(dlrt_bcast(data, (int64_t)count, DLRT_FLOAT, root, DLRT_COMM_WORLD));
}
static inline void msg_reduce(const float* input, float* output, size_t count, int root) {
    msg_check(
        dlrt_reduce(input, output, (int64_t)count, DLRT_FLOAT, DLRT_SUM, root, DLRT_COMM_WORLD)
    );
}
static inline void msg_all_reduce(const float* input, float* output, size_t count) {
    msg_check(dlrt_allreduce(input, output, (int64_t)count, DLRT_FLOAT, DLRT_SUM, DLRT_COMM_WORLD));
}
static inline void msg_begin_barrier(msg_request* request) {
    msg_check(dlrt_ibarrier(DLRT_COMM_WORLD, request));
}
static inline void msg_begin_all_reduce(
    const float* input, float* output, size_t count, msg_request* request
) {
    msg_check(dlrt_iallreduce(
        input, output, (int64_t)count, DLRT_FLOAT, DLRT_SUM, DLRT_COMM_WORLD, request
    ));
}
static inline void msg_reduce_scatter(const float* input, float* output, size_t count_each) {
    msg_check(dlrt_reduce_scatter(
        input, output, (int64_t)count_each, DLRT_FLOAT, DLRT_SUM, DLRT_COMM_WORLD
    ));
}
static inline void msg_scan(const float* input, float* output, size_t count) {
    msg_check(dlrt_scan(input, output, (int64_t)count, DLRT_FLOAT, DLRT_SUM, DLRT_COMM_WORLD));
}
static inline void msg_exclusive_scan(const float* input, float* output, size_t count) {
    msg_check(dlrt_exscan(input, output, (int64_t)count, DLRT_FLOAT, DLRT_SUM, DLRT_COMM_WORLD));
}
static inline void msg_all_gatherv(
    const float* input, size_t count, float* output, const msg_count* counts,
    const msg_count* displacements
) {
    msg_check(dlrt_allgatherv(
        input, (int64_t)count, DLRT_FLOAT, output, counts, displacements, DLRT_COMM_WORLD
    ));
}
static inline void msg_all_to_all(const float* input, float* output, size_t count_each) {
    msg_check(dlrt_alltoall(input, output, (int64_t)count_each, DLRT_FLOAT, DLRT_COMM_WORLD));
}
static inline void msg_all_to_allv(
    const float* input, float* output, const msg_count* counts, const msg_count* displacements
) {
    msg_check(dlrt_alltoallv(
        input, counts, displacements, output, counts, displacements, DLRT_FLOAT, DLRT_COMM_WORLD
    ));
}
static inline void msg_all_gather(const float* input, float* output, size_t count_each) {
    msg_check(dlrt_allgather(input, (int64_t)count_each, DLRT_FLOAT, output, DLRT_COMM_WORLD));
}
static inline void msg_gather(const float* input, float* output, size_t count_each, int root) {
    msg_check(dlrt_gather(input, (int64_t)count_each, DLRT_FLOAT, output, root, DLRT_COMM_WORLD));
}
static inline void msg_scatter(const float* input, float* output, size_t count_each, int root) {
    msg_check(dlrt_scatter(input, output, (int64_t)count_each, DLRT_FLOAT, root, DLRT_COMM_WORLD));
}

#endif
