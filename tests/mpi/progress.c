/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever waits in any call moves what else it has under way: large messages while their receiver
 * is in a barrier, in a wait for another request, in a probe, in a send. 2 ranks.
 */
#include "check.h"

enum { length = 64 << 20 };

static char* room;
static MPI_Comm other;

static void fill(char value) {
    for (int i = 0; i < length; i += 4096) room[i] = value;
    room[length - 1] = value;
}
static void check_filled(char value) {
    for (int i = 0; i < length; i += 4096) CHECK_EQUAL(room[i], value);
    CHECK_EQUAL(room[length - 1], value);
}

static void during_a_barrier(void) {
    MPI_Request request;
    if (own_rank == 1) {
        fill(1);
        OK(MPI_Send(room, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
        OK(MPI_Barrier(other));
        return;
    }
    OK(MPI_Irecv(room, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Barrier(other));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_filled(1);
}

/* The sender's call ends before it says what the receiver waits for. */
static void during_a_wait(void) {
    MPI_Request large, small;
    int value = 0;
    if (own_rank == 0) {
        fill(2);
        OK(MPI_Ssend(room, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        OK(MPI_Send(&value, 1, MPI_INT, 1, 2, other));
        return;
    }
    OK(MPI_Irecv(room, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &large));
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 2, other, &small));
    OK(MPI_Wait(&small, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&large, MPI_STATUS_IGNORE));
    check_filled(2);
}

static void during_a_probe(void) {
    MPI_Request request;
    int flag = 0;
    if (own_rank == 1) {
        fill(3);
        OK(MPI_Send(room, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 3, other));
        return;
    }
    OK(MPI_Irecv(room, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Probe(MPI_ANY_SOURCE, 3, other, MPI_STATUS_IGNORE));
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, other, MPI_STATUS_IGNORE));
    while (!flag) OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    check_filled(3);
}

/* Both are in a synchronous send of which the other's receive was posted before. */
static void during_sends(void) {
    char* const out = calloc(length, 1);
    MPI_Request request;
    out[length - 1] = (char)(10 + own_rank);
    OK(MPI_Irecv(room, length, MPI_BYTE, 1 - own_rank, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Ssend(out, length, MPI_BYTE, 1 - own_rank, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(room[length - 1], 11 - own_rank);
    free(out);
}

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 2);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    room = calloc(length, 1);
    part(during_a_barrier);
    part(during_a_wait);
    part(during_a_probe);
    part(during_sends);
    free(room);
    OK(MPI_Comm_free(&other));
    OK(MPI_Finalize());
    return 0;
}
