/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is freed while an operation uses it lives until that is over: requests, communicators,
 * types and operations, in messages and in collectives, also where MPI_Finalize must complete them.
 * 2 ranks.
 */
#include "check.h"

enum { length = 100000 };

static int out[length], in[length];

static void fill(void) {
    for (int i = 0; i < length; ++i) {
        out[i] = 3 * i + own_rank;
        in[i] = -1;
    }
}

/* All that the messages need is freed before the other rank begins to receive. */
static void messages(void) {
    static const int sizes[3] = {1, 900, length};
    for (int s = 0; s < 3; ++s) {
        MPI_Comm comm;
        MPI_Datatype type;
        MPI_Request request;
        const int size = sizes[s];
        fill();
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Type_vector((size + 1) / 2, 1, 2, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
        if (own_rank == 0) {
            OK(MPI_Isend(out, 1, type, 1, 4, comm, &request));
            OK(MPI_Request_free(&request));
            CHECK(request == MPI_REQUEST_NULL);
            OK(MPI_Type_free(&type));
            OK(MPI_Comm_free(&comm));
            OK(MPI_Send(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD));
        } else {
            OK(MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Irecv(in, 1, type, 0, 4, comm, &request));
            OK(MPI_Type_free(&type));
            OK(MPI_Comm_free(&comm));
            CHECK(comm == MPI_COMM_NULL && type == MPI_DATATYPE_NULL);
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            for (int i = 0; i < size; ++i) CHECK_EQUAL(in[i], i % 2 == 0 ? 3 * i : -1);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void sum_pairs(void* left, void* right, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < 2 * *count; ++i) ((int*)right)[i] += ((int*)left)[i];
}

static void collectives(void) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request;
    fill();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(sum_pairs, 1, &op));
    OK(MPI_Iallreduce(out, in, length / 2, type, op, comm, &request));
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < length; ++i) CHECK_EQUAL(in[i], 6 * i + 1);
}

/* A persistent operation keeps all that it needs from start to start, and a message that came
 * before its communicator was freed. */
static void persistent(void) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_vector(5, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    if (own_rank == 0) {
        OK(MPI_Send_init(out, 1, type, 1, 0, comm, &request));
    } else {
        OK(MPI_Recv_init(in, 1, type, 0, 0, comm, &request));
    }
    OK(MPI_Type_free(&type));
    for (int i = 0; i < 3; ++i) {
        fill();
        out[8] = 50 + i;
        if (own_rank == 0) OK(MPI_Start(&request));
        if (i == 0) {
            if (own_rank == 1) OK(MPI_Probe(0, 0, comm, MPI_STATUS_IGNORE));
            OK(MPI_Comm_free(&comm));
        }
        if (own_rank == 1) OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (own_rank == 1) CHECK(in[8] == 50 + i && in[7] == -1 && in[2] == 6);
    }
    OK(MPI_Request_free(&request));
}

/* Sends nobody waits for, whose receiver comes when the sender is in MPI_Finalize. */
static void before_the_end(void) {
    fill();
    for (int i = 0; i < 20; ++i) {
        if (own_rank == 0) {
            MPI_Request request;
            if (i % 2 == 0) {
                OK(MPI_Isend(out, length, MPI_INT, 1, i, MPI_COMM_WORLD, &request));
            } else {
                OK(MPI_Issend(out, 10, MPI_INT, 1, i, MPI_COMM_WORLD, &request));
            }
            OK(MPI_Request_free(&request));
        } else {
            MPI_Status status;
            int count = 0;
            OK(MPI_Recv(in, length, MPI_INT, 0, i, MPI_COMM_WORLD, &status));
            OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK_EQUAL(count, i % 2 == 0 ? length : 10);
            CHECK_EQUAL(in[count - 1], 3 * (count - 1));
        }
    }
}

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 2);
    part(messages);
    part(collectives);
    part(persistent);
    before_the_end();
    OK(MPI_Finalize());
    return 0;
}
