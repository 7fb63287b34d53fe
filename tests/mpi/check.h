/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that check MPI from C: a failed check says where, and the job ends with status 1.
 */
#ifndef DLRT_TESTS_MPI_CHECK_H
#define DLRT_TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int own_rank, world_size;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, own_rank, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                      \
        }                                                                                      \
    } while (0)
#define CHECK_EQUAL(left, right)                                                                \
    do {                                                                                        \
        const long long left_ = (long long)(left), right_ = (long long)(right);                 \
        if (left_ != right_) {                                                                  \
            fprintf(                                                                            \
                stderr, "%s:%d: rank %d: %s is %lld, not %lld\n", __FILE__, __LINE__, own_rank, \
                #left, left_, right_                                                            \
            );                                                                                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                       \
        }                                                                                       \
    } while (0)
#define OK(call) CHECK_EQUAL(call, MPI_SUCCESS)

static inline void start_mpi(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

/* Parts of a program whose messages shall not meet. */
static inline void part(void (*function)(void)) {
    function();
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif /* DLRT_TESTS_MPI_CHECK_H */
