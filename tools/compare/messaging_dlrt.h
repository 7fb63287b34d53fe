/* SPDX-License-Identifier: Apache-2.0 */
/* The handful of operations that point_to_point.c measures, on dlrt. */
#ifndef MESSAGING_H
#define MESSAGING_H

#include <dlrt.h>

#define MESSAGING_NAME "dlrt"
typedef dlrt_request msg_request;

static void msg_check(dlrt_err error) {
    if (error != DLRT_OK) dlrt_abort(1, dlrt_last_error());
}
static inline void msg_init(void) {
    msg_check(dlrt_init());
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
static inline void msg_barrier(void) {
    msg_check(dlrt_barrier(DLRT_COMM_WORLD));
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

#endif
