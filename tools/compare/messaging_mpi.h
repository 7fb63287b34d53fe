/* SPDX-License-Identifier: Apache-2.0 */
/* The handful of operations that point_to_point.c measures, on plain mpi.h. */
#ifndef MESSAGING_H
#define MESSAGING_H

#include <mpi.h>
#include <stddef.h>

#define MESSAGING_NAME "mpi"
typedef MPI_Request msg_request;

static inline void msg_init(void) {
    MPI_Init(NULL, NULL);
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
static inline void msg_barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
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

#endif
