/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives: results worked out by hand for every form, in place, with garbage where nobody may
 * look, with operations that don't commute. 3 ranks.
 */
#include <stdint.h>

#include "check.h"

static void* const garbage = (void*)(uintptr_t)16;

/* Arguments that mean nothing at a rank are never looked at. */
static void roots(void) {
    for (int root = 0; root < 3; ++root) {
        const int is_root = own_rank == root;
        int all[3] = {-1, -1, -1}, value = own_rank + 1, sum = 0;
        OK(MPI_Gather(
            &value, 1, MPI_INT, is_root ? all : garbage, is_root ? 1 : -7,
            is_root ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD
        ));
        if (is_root) CHECK(all[0] == 1 && all[1] == 2 && all[2] == 3);
        OK(MPI_Scatter(
            is_root ? all : garbage, is_root ? 1 : -7, is_root ? MPI_INT : MPI_DATATYPE_NULL,
            &value, 1, MPI_INT, root, MPI_COMM_WORLD
        ));
        CHECK_EQUAL(value, own_rank + 1);
        OK(MPI_Reduce(&value, is_root ? &sum : NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
        if (is_root) CHECK_EQUAL(sum, 6);
        value = is_root ? 70 + root : 0;
        OK(MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_EQUAL(value, 70 + root);
    }
}

static void in_place(void) {
    for (int root = 0; root < 3; ++root) {
        const int is_root = own_rank == root;
        int all[3] = {0, 0, 0}, value = own_rank + 1;
        all[own_rank] = value;
        OK(MPI_Gather(
            is_root ? MPI_IN_PLACE : &value, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD
        ));
        if (is_root) CHECK(all[0] == 1 && all[1] == 2 && all[2] == 3);
        OK(MPI_Scatter(
            all, 1, MPI_INT, is_root ? MPI_IN_PLACE : &value, 1, MPI_INT, root, MPI_COMM_WORLD
        ));
        CHECK_EQUAL(value, own_rank + 1);
        OK(MPI_Reduce(
            is_root ? MPI_IN_PLACE : &value, &value, 1, MPI_INT, MPI_PROD, root, MPI_COMM_WORLD
        ));
        CHECK_EQUAL(value, is_root ? 6 : own_rank + 1);
    }
    int all[3] = {0, 0, 0};
    all[own_rank] = own_rank;
    OK(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK(all[0] == 0 && all[1] == 1 && all[2] == 2);
    for (int i = 0; i < 3; ++i) all[i] = 10 * own_rank + i;
    OK(MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(all[i], 10 * i + own_rank);
    for (int i = 0; i < 3; ++i) all[i] = i + own_rank;
    OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(all[0], 3 * own_rank + 3);
    int value = own_rank + 1;
    OK(MPI_Scan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(value, (own_rank + 1) * (own_rank + 2) / 2);
    value = own_rank + 1;
    OK(MPI_Exscan(&value, own_rank == 0 ? NULL : &all[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (own_rank > 0) CHECK_EQUAL(all[0], own_rank * (own_rank + 1) / 2);
}

static void lists(void) {
    const int counts[3] = {1, 0, 2}, places[3] = {0, 9, 2};
    int all[4] = {-1, -1, -1, -1};
    const int own[2] = {own_rank * 10, own_rank * 10 + 1};
    OK(MPI_Allgatherv(own, counts[own_rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD)
    );
    CHECK(all[0] == 0 && all[1] == -1 && all[2] == 20 && all[3] == 21);
    int got[2] = {-1, -1};
    OK(MPI_Scatterv(all, counts, places, MPI_INT, got, counts[own_rank], MPI_INT, 1, MPI_COMM_WORLD)
    );
    CHECK_EQUAL(got[0], counts[own_rank] > 0 ? own[0] : -1);
    /* To rank i go i + 1 numbers. */
    int out[6], in[9], send_counts[3] = {1, 2, 3}, send_places[3] = {0, 1, 3};
    int recv_counts[3], recv_places[3];
    for (int i = 0; i < 6; ++i) out[i] = 100 * own_rank + i;
    for (int i = 0; i < 3; ++i) {
        recv_counts[i] = own_rank + 1;
        recv_places[i] = i * (own_rank + 1);
    }
    OK(MPI_Alltoallv(
        out, send_counts, send_places, MPI_INT, in, recv_counts, recv_places, MPI_INT,
        MPI_COMM_WORLD
    ));
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k <= own_rank; ++k) {
            CHECK_EQUAL(in[recv_places[i] + k], 100 * i + send_places[own_rank] + k);
        }
    }
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    int byte_send[3], byte_recv[3];
    for (int i = 0; i < 3; ++i) {
        byte_send[i] = 4 * send_places[i];
        byte_recv[i] = 4 * recv_places[i];
        in[i] = -1;
    }
    MPI_Request request;
    OK(MPI_Ialltoallw(
        out, send_counts, byte_send, types, in, recv_counts, byte_recv, types, MPI_COMM_WORLD,
        &request
    ));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(in[0], send_places[own_rank]);
    int vector[3] = {own_rank, own_rank + 1, own_rank + 2}, share[2] = {0, 0};
    const int shares[3] = {1, 0, 2};
    OK(MPI_Reduce_scatter(vector, share, shares, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (own_rank == 0) CHECK_EQUAL(share[0], 3);
    if (own_rank == 2) CHECK(share[0] == 6 && share[1] == 9);
}

/* 2x2 matrices modulo a prime: left times right, in the order of ranks. */
typedef struct {
    int a[4];
} Matrix;
static MPI_Datatype matrix_type;
static int saw_another_type;

static Matrix times(Matrix left, Matrix right) {
    const Matrix made = {{
        (left.a[0] * right.a[0] + left.a[1] * right.a[2]) % 10007,
        (left.a[0] * right.a[1] + left.a[1] * right.a[3]) % 10007,
        (left.a[2] * right.a[0] + left.a[3] * right.a[2]) % 10007,
        (left.a[2] * right.a[1] + left.a[3] * right.a[3]) % 10007,
    }};
    return made;
}
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
    Matrix *const left = in, *const right = inout;
    if (*type != matrix_type) saw_another_type = 1;
    for (int i = 0; i < *count; ++i) right[i] = times(left[i], right[i]);
}
static Matrix matrix_of(int rank) {
    const Matrix made = {{rank + 1, 2, 3, 4 - rank}};
    return made;
}

static void user_operation(void) {
    MPI_Op op;
    MPI_Request request;
    int is_commutative = 1;
    Matrix own[2] = {matrix_of(own_rank), matrix_of(own_rank + 5)}, all[2], whole[2], before;
    OK(MPI_Type_contiguous(4, MPI_INT, &matrix_type));
    OK(MPI_Type_commit(&matrix_type));
    OK(MPI_Op_create(multiply, 0, &op));
    OK(MPI_Op_commutative(op, &is_commutative));
    CHECK(!is_commutative);
    for (int i = 0; i < 2; ++i) {
        whole[i] = times(times(matrix_of(5 * i), matrix_of(1 + 5 * i)), matrix_of(2 + 5 * i));
    }
    OK(MPI_Allreduce(own, all, 2, matrix_type, op, MPI_COMM_WORLD));
    CHECK(memcmp(all, whole, sizeof(whole)) == 0);
    OK(MPI_Reduce(own, all, 2, matrix_type, op, 1, MPI_COMM_WORLD));
    if (own_rank == 1) CHECK(memcmp(all, whole, sizeof(whole)) == 0);
    OK(MPI_Scan(own, all, 1, matrix_type, op, MPI_COMM_WORLD));
    before = matrix_of(0);
    for (int i = 1; i <= own_rank; ++i) before = times(before, matrix_of(i));
    CHECK(memcmp(all, &before, sizeof(before)) == 0);
    /* It may be freed while it is used. */
    OK(MPI_Iallreduce(own, all, 2, matrix_type, op, MPI_COMM_WORLD, &request));
    OK(MPI_Op_free(&op));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(memcmp(all, whole, sizeof(whole)) == 0);
    CHECK(!saw_another_type);
    OK(MPI_Type_free(&matrix_type));
}

static void operations_and_types(void) {
    struct {
        double value;
        int place;
    } own = {own_rank == 1 ? -1.0 : 3.0, own_rank}, least, most;
    OK(MPI_Allreduce(&own, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&own, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(least.value == -1.0 && least.place == 1);
    CHECK(most.value == 3.0 && most.place == 0);
    const double real = 1.0;
    double result = 0;
    float pair[2] = {1.0F, (float)own_rank}, best[2];
    OK(MPI_Allreduce(pair, best, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(best[0] == 1.0F && best[1] == 0.0F);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_EQUAL(MPI_Allreduce(&real, &result, 1, MPI_DOUBLE, MPI_LAND, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_EQUAL(MPI_Bcast(&result, 1, MPI_DOUBLE, 3, MPI_COMM_WORLD), MPI_ERR_ROOT);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    /* Characters are small integers, and halves are summed as floats: 1.5 and 0.25 in 16 bits. */
    char letters[2] = {own_rank == 0 ? 100 : 1, 3}, sums[2] = {0, 0};
    OK(MPI_Allreduce(letters, sums, 2, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sums[0] == 102 && sums[1] == 9);
    OK(MPI_Allreduce(letters, sums, 2, MPI_CHARACTER, MPI_MAX, MPI_COMM_WORLD));
    CHECK(sums[0] == 100 && sums[1] == 3);
    uint16_t halves[600], totals[600];
    for (int i = 0; i < 600; ++i) halves[i] = 0x3e00, totals[i] = 0x3400;
    OK(MPI_Reduce_local(halves, totals, 600, MPI_REAL2, MPI_SUM));
    CHECK(totals[0] == 0x3f00 && totals[599] == 0x3f00);
    double here[4] = {2.0, 1.0, 5.0, 9.0}, there[4] = {2.0, 0.0, 6.0, 8.0};
    OK(MPI_Reduce_local(here, there, 2, MPI_2DOUBLE_PRECISION, MPI_MINLOC));
    CHECK(there[0] == 2.0 && there[1] == 0.0 && there[2] == 5.0 && there[3] == 9.0);
    int most_of[2] = {4, 2}, so_far[2] = {4, 7};
    OK(MPI_Reduce_local(most_of, so_far, 1, MPI_2INTEGER, MPI_MAXLOC));
    CHECK(so_far[0] == 4 && so_far[1] == 2);
    int left = 5, right = 7;
    OK(MPI_Reduce_local(&left, &right, 1, MPI_INT, MPI_PROD));
    CHECK_EQUAL(right, 35);
}

/* Several under way, a blocking one between them, ended in another order. */
static void under_way(void) {
    int sums[3], values[3] = {1, 2, 3}, value = 7;
    MPI_Request requests[3];
    for (int i = 0; i < 3; ++i) {
        OK(MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
    }
    OK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 2; i >= 0; --i) OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    CHECK(sums[0] == 3 && sums[1] == 6 && sums[2] == 9);
    int out = 0, in = 0;
    MPI_Request round;
    OK(MPI_Allreduce_init(&out, &in, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &round));
    for (int i = 0; i < 4; ++i) {
        out = own_rank * i;
        OK(MPI_Start(&round));
        OK(MPI_Wait(&round, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in, 2 * i);
    }
    OK(MPI_Request_free(&round));
    OK(MPI_Allreduce_c(&own_rank, &in, (MPI_Count)1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(in, 3);
    OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
}

/* The same call again, in other memory, in place, with other arguments, after its communicator. */
static void again(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int round = 0; round < 6; ++round) {
        int values[2] = {own_rank + round, own_rank}, sums[2] = {0, 0}, all[3], counts[3] = {0};
        int* const from = values + round % 2;
        int* const to = sums + round % 2;
        if (round > 0) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        for (int i = 0; i < 3; ++i) {
            const int term = round % 2 == 0 ? own_rank + round : own_rank;
            OK(MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, comm));
            CHECK_EQUAL(*to, round % 2 == 0 ? 3 + 3 * round : 3);
            *to = *from;
            OK(MPI_Allreduce(MPI_IN_PLACE, to, 1, MPI_INT, MPI_MAX, comm));
            CHECK_EQUAL(*to, round % 2 == 0 ? 2 + round : 2);
            OK(MPI_Allgather(from, 1, MPI_INT, all, (int)sizeof(int), MPI_BYTE, comm));
            CHECK_EQUAL(all[own_rank], term);
            OK(MPI_Alltoall(all, 1, MPI_INT, counts, 1, MPI_INT, comm));
            CHECK_EQUAL(counts[2], counts[0]);
            OK(MPI_Reduce(from, own_rank == i ? to : NULL, 1, MPI_INT, MPI_MIN, i, comm));
            if (own_rank == i) CHECK_EQUAL(*to, round % 2 == 0 ? round : 0);
        }
        if (round > 0) OK(MPI_Comm_free(&comm));
    }
}

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 3);
    part(roots);
    part(in_place);
    part(lists);
    part(user_operation);
    part(operations_and_types);
    part(under_way);
    part(again);
    OK(MPI_Finalize());
    return 0;
}
