/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators don't hear each other: equal tags never cross, what was sent in one that is freed
 * doesn't arrive in a later one, and making and freeing them goes on for ever. 3 ranks; usage:
 * contexts CYCLES
 */
#include "check.h"

static void equal_tags(void) {
    MPI_Comm copy;
    int first = 1, second = 2, got = 0, flag = 1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    const int next = (own_rank + 1) % world_size;
    MPI_Request requests[2];
    OK(MPI_Isend(&first, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Isend(&second, 1, MPI_INT, next, 7, copy, &requests[1]));
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE));
    CHECK_EQUAL(got, 2);
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQUAL(got, 1);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Comm_free(&copy));
}

/* A message that nobody received stays with its communicator. */
static void left_messages(void) {
    for (int i = 0; i < 20; ++i) {
        MPI_Comm old, made;
        int value = i, got = -1;
        const int next = (own_rank + 1) % world_size;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &old));
        OK(MPI_Send(&own_rank, 1, MPI_INT, next, 3, old));
        OK(MPI_Comm_free(&old));
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        value += 1000;
        OK(MPI_Send(&value, 1, MPI_INT, next, 3, made));
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made, MPI_STATUS_IGNORE));
        CHECK_EQUAL(got, 1000 + i);
        OK(MPI_Comm_free(&made));
    }
}

/* Groups that overlap, created in another order at each rank's own pace. */
static void overlapping_splits(void) {
    for (int i = 0; i < 20; ++i) {
        MPI_Comm some;
        int sum = 0;
        const int is_out = i % world_size == own_rank;
        OK(MPI_Comm_split(MPI_COMM_WORLD, is_out ? MPI_UNDEFINED : 1, -own_rank, &some));
        if (is_out) continue;
        OK(MPI_Allreduce(&own_rank, &sum, 1, MPI_INT, MPI_SUM, some));
        CHECK_EQUAL(sum, 3 - i % world_size);
        OK(MPI_Comm_free(&some));
    }
}

int main(int argc, char** argv) {
    start_mpi();
    CHECK_EQUAL(world_size, 3);
    const int cycles = argc > 1 ? atoi(argv[1]) : 1000;
    part(equal_tags);
    part(left_messages);
    part(overlapping_splits);
    for (int i = 0; i < cycles; ++i) {
        MPI_Comm copy;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        CHECK(copy != MPI_COMM_NULL && copy != MPI_COMM_WORLD);
        OK(MPI_Comm_free(&copy));
    }
    OK(MPI_Finalize());
    return 0;
}
