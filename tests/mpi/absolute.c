/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types with absolute addresses, at MPI_BOTTOM, in messages and in collectives of all forms, where
 * data is in one piece and where it is not. 2 ranks.
 */
#include "check.h"

static int out[6], in[6];

static MPI_Datatype absolute_type(int* place, int count, int stride) {
    MPI_Datatype within, type;
    MPI_Aint address;
    const int one = 1;
    OK(MPI_Get_address(place, &address));
    OK(MPI_Type_vector(count, 1, stride, MPI_INT, &within));
    OK(MPI_Type_create_struct(1, &one, &address, &within, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&within));
    return type;
}

static void fill(void) {
    for (int i = 0; i < 6; ++i) {
        out[i] = 10 * own_rank + i;
        in[i] = -1;
    }
}

static void exchange(int stride) {
    MPI_Datatype to[2], from[2];
    const int counts[2] = {1, 1}, places[2] = {0, 0};
    const int apart = stride == 1 ? 2 : 1;
    for (int i = 0; i < 2; ++i) {
        to[i] = absolute_type(out + i * apart, 2, stride);
        from[i] = absolute_type(in + i * apart, 2, stride);
    }
    fill();
    OK(MPI_Alltoallw(
        MPI_BOTTOM, counts, places, to, MPI_BOTTOM, counts, places, from, MPI_COMM_WORLD
    ));
    for (int i = 0; i < 2; ++i) {
        CHECK_EQUAL(in[i * apart], 10 * i + own_rank * apart);
        CHECK_EQUAL(in[i * apart + stride], 10 * i + own_rank * apart + stride);
    }
    fill();
    MPI_Request request;
    OK(MPI_Ialltoallw(
        MPI_BOTTOM, counts, places, to, MPI_BOTTOM, counts, places, from, MPI_COMM_WORLD, &request
    ));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(in[apart + stride], 10 + own_rank * apart + stride);
    for (int root = 0; root < 2; ++root) {
        fill();
        OK(MPI_Bcast(MPI_BOTTOM, 1, own_rank == root ? to[0] : from[0], root, MPI_COMM_WORLD));
        const int expected = own_rank == root ? -1 : 10 * root;
        CHECK_EQUAL(in[0], expected);
    }
    fill();
    const int peer = 1 - own_rank;
    OK(MPI_Sendrecv(
        MPI_BOTTOM, 1, to[0], peer, 0, MPI_BOTTOM, 1, from[1], peer, 0, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE
    ));
    CHECK(in[0] == -1 && in[apart] == 10 * peer && in[apart + stride] == 10 * peer + stride);
    for (int i = 0; i < 2; ++i) {
        OK(MPI_Type_free(&to[i]));
        OK(MPI_Type_free(&from[i]));
    }
}

static void in_one_piece(void) {
    exchange(1);
}

static void in_pieces(void) {
    exchange(2);
}

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 2);
    part(in_one_piece);
    part(in_pieces);
    OK(MPI_Finalize());
    return 0;
}
