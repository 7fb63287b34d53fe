/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datatypes: sizes, bounds and contents worked out by hand, packing, external32, absolute
 * addresses. 2 ranks.
 */
#include <stddef.h>

#include "check.h"

static void check_type(MPI_Datatype type, int size, MPI_Aint lb, MPI_Aint extent) {
    int own_size = -1;
    MPI_Aint own_lb = -1, own_extent = -1;
    OK(MPI_Type_size(type, &own_size));
    OK(MPI_Type_get_extent(type, &own_lb, &own_extent));
    CHECK_EQUAL(own_size, size);
    CHECK_EQUAL(own_lb, lb);
    CHECK_EQUAL(own_extent, extent);
}

static void check_envelope(
    MPI_Datatype type, int combiner, int integers, int addresses, int types
) {
    int made = 0, have_integers = 0, have_addresses = 0, have_types = 0;
    OK(MPI_Type_get_envelope(type, &have_integers, &have_addresses, &have_types, &made));
    CHECK_EQUAL(made, combiner);
    CHECK_EQUAL(have_integers, integers);
    CHECK_EQUAL(have_addresses, addresses);
    CHECK_EQUAL(have_types, types);
}

static void predefined_types(void) {
    check_type(MPI_INT, 4, 0, 4);
    check_type(MPI_DOUBLE_INT, 12, 0, 16);
    check_type(MPI_SHORT_INT, 6, 0, 8);
    check_type(MPI_2INT, 8, 0, 8);
    check_type(MPI_AINT, 8, 0, 8);
    check_type(MPI_C_DOUBLE_COMPLEX, 16, 0, 16);
    int size = 0, length = 0;
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Type_size(MPI_REAL16, &size));
    CHECK_EQUAL(size, MPI_UNDEFINED);
    OK(MPI_Type_get_name(MPI_INT, name, &length));
    CHECK(strcmp(name, "MPI_INT") == 0 && length == 7);
    check_envelope(MPI_INT, MPI_COMBINER_NAMED, 0, 0, 0);
}

struct record {
    double value;
    char letter;
};

static void constructors(void) {
    MPI_Datatype type, part, got[2];
    const int lengths[2] = {1, 2}, places[2] = {0, 3};
    OK(MPI_Type_vector(3, 2, 5, MPI_INT, &type));
    check_type(type, 24, 0, 48);
    check_envelope(type, MPI_COMBINER_VECTOR, 3, 0, 1);
    int integers[16];
    MPI_Aint addresses[4];
    OK(MPI_Type_get_contents(type, 3, 0, 1, integers, NULL, got));
    CHECK(integers[0] == 3 && integers[1] == 2 && integers[2] == 5 && got[0] == MPI_INT);
    /* The part may go: what is made of it stays. */
    OK(MPI_Type_contiguous(2, type, &part));
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
    check_type(part, 48, 0, 96);
    OK(MPI_Type_get_contents(part, 1, 0, 1, integers, NULL, got));
    CHECK_EQUAL(integers[0], 2);
    check_type(got[0], 24, 0, 48);
    OK(MPI_Type_free(&got[0]));
    OK(MPI_Type_free(&part));

    OK(MPI_Type_indexed(2, lengths, places, MPI_DOUBLE, &type));
    check_type(type, 24, 0, 40);
    check_envelope(type, MPI_COMBINER_INDEXED, 5, 0, 1);
    OK(MPI_Type_free(&type));

    /* Padded as C does it. */
    const MPI_Aint offsets[2] = {offsetof(struct record, value), offsetof(struct record, letter)};
    const MPI_Datatype kinds[2] = {MPI_DOUBLE, MPI_CHAR};
    const int ones[2] = {1, 1};
    OK(MPI_Type_create_struct(2, ones, offsets, kinds, &type));
    check_type(type, 9, 0, sizeof(struct record));
    check_envelope(type, MPI_COMBINER_STRUCT, 3, 2, 2);
    OK(MPI_Type_get_contents(type, 3, 2, 2, integers, addresses, got));
    CHECK(got[0] == MPI_DOUBLE && got[1] == MPI_CHAR && addresses[1] == 8);
    OK(MPI_Type_create_resized(type, -8, 40, &part));
    check_type(part, 9, -8, 40);
    check_envelope(part, MPI_COMBINER_RESIZED, 0, 2, 1);
    OK(MPI_Type_free(&part));
    OK(MPI_Type_free(&type));

    const int sizes[2] = {4, 5}, subsizes[2] = {2, 3}, starts[2] = {1, 2};
    OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type));
    check_type(type, 24, 0, 80);
    check_envelope(type, MPI_COMBINER_SUBARRAY, 8, 0, 1);
    MPI_Aint lb = 0, extent = 0;
    OK(MPI_Type_get_true_extent(type, &lb, &extent));
    CHECK_EQUAL(lb, 4 * (1 * 5 + 2));
    CHECK_EQUAL(extent, 4 * 8);
    OK(MPI_Type_free(&type));

    /* The large form says its numbers as large counts. */
    MPI_Count counts[4] = {0};
    OK(MPI_Type_contiguous_c(7, MPI_SHORT, &type));
    CHECK_EQUAL(MPI_SUCCESS, MPI_Type_get_contents_c(type, 0, 0, 1, 1, NULL, NULL, counts, got));
    CHECK_EQUAL(counts[0], 7);
    OK(MPI_Type_free(&type));

    /* Too large for int: undefined there, exact in the large form. */
    OK(MPI_Type_contiguous_c(1LL << 31, MPI_INT, &type));
    check_type(type, MPI_UNDEFINED, 0, 4LL << 31);
    OK(MPI_Type_size_c(type, &counts[0]));
    CHECK_EQUAL(counts[0], 8LL << 30);
    OK(MPI_Type_free(&type));
}

/* Elements 0..11 dealt out by blocks of 2 to 3 processes, round and round: this one gets 2 3 8 9.
 */
static void distributed_array(void) {
    const int size = 12, kind = MPI_DISTRIBUTE_CYCLIC, argument = 2, processes = 3;
    int data[12], packed[4], position = 0;
    MPI_Datatype type;
    for (int i = 0; i < 12; ++i) data[i] = i;
    OK(MPI_Type_create_darray(
        3, 1, 1, &size, &kind, &argument, &processes, MPI_ORDER_C, MPI_INT, &type
    ));
    OK(MPI_Type_commit(&type));
    check_type(type, 16, 0, 48);
    check_envelope(type, MPI_COMBINER_DARRAY, 8, 0, 1);
    OK(MPI_Pack(data, 1, type, packed, sizeof(packed), &position, MPI_COMM_WORLD));
    CHECK(packed[0] == 2 && packed[1] == 3 && packed[2] == 8 && packed[3] == 9);
    OK(MPI_Type_free(&type));
}

static void packing(void) {
    int data[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, back[9] = {0}, position = 0, size = 0;
    char room[64];
    MPI_Datatype column;
    OK(MPI_Type_vector(3, 1, 3, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Pack_size(1, column, MPI_COMM_WORLD, &size));
    OK(MPI_Pack(data + 1, 1, column, room, sizeof(room), &position, MPI_COMM_WORLD));
    CHECK(position == 12 && size >= 12);
    position = 0;
    memset(back, -1, sizeof(back));
    OK(MPI_Unpack(room, 12, &position, back + 1, 1, column, MPI_COMM_WORLD));
    CHECK(back[1] == 1 && back[4] == 4 && back[7] == 7 && back[0] == -1 && back[2] == -1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    position = 56;
    CHECK(MPI_Pack(data, 3, MPI_INT, room, 64, &position, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK_EQUAL(position, 56);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Type_free(&column));

    /* Big-endian, with sizes of its own: a long has 4 bytes. */
    const long number = -2;
    const short small = 0x0102;
    long again = 0;
    MPI_Aint place = 0;
    OK(MPI_Pack_external("external32", &small, 1, MPI_SHORT, room, 64, &place));
    OK(MPI_Pack_external("external32", &number, 1, MPI_LONG, room, 64, &place));
    CHECK_EQUAL(place, 6);
    CHECK(room[0] == 1 && room[1] == 2 && room[2] == -1 && room[5] == -2);
    place = 2;
    OK(MPI_Unpack_external("external32", room, 64, &place, &again, 1, MPI_LONG));
    CHECK(again == -2 && place == 6);
    long double wide = 1.5L, wide_again = 0;
    place = 0;
    OK(MPI_Pack_external("external32", &wide, 1, MPI_LONG_DOUBLE, room, 64, &place));
    CHECK_EQUAL(place, 16);
    CHECK(room[0] == 0x3f && room[1] == (char)0xff && room[2] == (char)0x80);
    place = 0;
    OK(MPI_Unpack_external("external32", room, 64, &place, &wide_again, 1, MPI_LONG_DOUBLE));
    CHECK(wide_again == 1.5L);
}

/* MPI_BOTTOM is a null pointer: types at absolute addresses work everywhere all the same. */
static void absolute_addresses(void) {
    int first = own_rank == 0 ? 11 : 0, second = own_rank == 0 ? 22 : 0, sum = 0;
    MPI_Aint places[2];
    const int ones[2] = {1, 1};
    MPI_Datatype type;
    OK(MPI_Get_address(&first, &places[0]));
    OK(MPI_Get_address(&second, &places[1]));
    OK(MPI_Type_create_hindexed(2, ones, places, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    if (own_rank == 0) {
        OK(MPI_Send(MPI_BOTTOM, 1, type, 1, 1, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(MPI_BOTTOM, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(first == 11 && second == 22);
        first = second = 0;
    }
    OK(MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD));
    CHECK(first == 11 && second == 22);
    OK(MPI_Type_free(&type));
    /* One number at an absolute address, contiguous. */
    const int one = 1;
    OK(MPI_Type_create_hindexed(1, &one, places, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    if (own_rank == 1) first = 0;
    OK(MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD));
    CHECK_EQUAL(first, 11);
    OK(MPI_Type_free(&type));
    OK(MPI_Allreduce(&first, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(sum, 22);
    /* Lists of such types, in an exchange that goes on when they are freed. */
    int out[2] = {10 * own_rank, 10 * own_rank + 1}, in[2] = {-1, -1};
    const int none[2] = {0, 0};
    MPI_Datatype from[2], to[2];
    MPI_Request request;
    for (int i = 0; i < 2; ++i) {
        MPI_Aint place = 0;
        OK(MPI_Get_address(&out[i], &place));
        OK(MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &from[i]));
        OK(MPI_Type_commit(&from[i]));
        OK(MPI_Get_address(&in[i], &place));
        OK(MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &to[i]));
        OK(MPI_Type_commit(&to[i]));
    }
    OK(MPI_Ialltoallw(
        MPI_BOTTOM, ones, none, from, MPI_BOTTOM, ones, none, to, MPI_COMM_WORLD, &request
    ));
    for (int i = 0; i < 2; ++i) {
        OK(MPI_Type_free(&from[i]));
        OK(MPI_Type_free(&to[i]));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == own_rank && in[1] == 10 + own_rank);
}

/* A vector goes, integers come: the signatures are equal. Gaps stay as they are. */
static void mixed_types(void) {
    int data[10], got[4] = {0};
    MPI_Datatype type;
    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 10; ++i) data[i] = own_rank == 0 ? i : -1;
    if (own_rank == 0) {
        OK(MPI_Send(data, 1, type, 1, 1, MPI_COMM_WORLD));
        OK(MPI_Send(got, 3, MPI_INT, 1, 2, MPI_COMM_WORLD));
    } else {
        MPI_Status status;
        int count = 0;
        OK(MPI_Recv(got, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
        CHECK(got[0] == 0 && got[1] == 2 && got[3] == 6);
        OK(MPI_Recv(data, 2, type, 0, 2, MPI_COMM_WORLD, &status));
        CHECK(data[0] == 0 && data[1] == -1 && data[2] == 0);
        OK(MPI_Get_count(&status, type, &count));
        CHECK_EQUAL(count, MPI_UNDEFINED);
        OK(MPI_Get_elements(&status, type, &count));
        CHECK_EQUAL(count, 3);
    }
    int all[8];
    OK(MPI_Allgather(data, 1, type, all, 4, MPI_INT, MPI_COMM_WORLD));
    CHECK(all[1] == 2 && all[4] == 0);
    OK(MPI_Type_free(&type));
}

static int deleted_value;
static int delete_attribute(MPI_Datatype type, int keyval, void* value, void* extra) {
    (void)type, (void)keyval, (void)extra;
    deleted_value = *(int*)value;
    return MPI_SUCCESS;
}

static void attributes(void) {
    static int number = 9;
    int keyval = MPI_KEYVAL_INVALID, flag = 0, *got = NULL;
    MPI_Datatype type, copy;
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_attribute, &keyval, NULL));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_set_attr(type, keyval, &number));
    OK(MPI_Type_dup(type, &copy));
    check_envelope(copy, MPI_COMBINER_DUP, 0, 0, 1);
    OK(MPI_Type_get_attr(copy, keyval, &got, &flag));
    CHECK(flag && got == &number);
    OK(MPI_Type_free_keyval(&keyval));
    OK(MPI_Type_free(&type));
    CHECK_EQUAL(deleted_value, 9);
    OK(MPI_Type_free(&copy));
}

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 2);
    part(predefined_types);
    part(constructors);
    part(distributed_array);
    part(packing);
    part(absolute_addresses);
    part(mixed_types);
    part(attributes);
    OK(MPI_Finalize());
    return 0;
}
