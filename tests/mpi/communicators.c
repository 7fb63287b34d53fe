/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators, groups, attributes, error handlers, topologies, info: what the standard says of
 * their life. 4 ranks.
 */
#include "check.h"

static void handles_as_integers(void) {
    CHECK_EQUAL(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    CHECK_EQUAL(MPI_Type_toint(MPI_INT), 0x209);
    CHECK(MPI_Type_fromint(0x209) == MPI_INT);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    MPI_Comm copy;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    const int number = MPI_Comm_toint(copy);
    CHECK(number > 4095 && number == MPI_Comm_toint(copy));
    CHECK(MPI_Comm_fromint(number) == copy);
    OK(MPI_Comm_free(&copy));
    CHECK(copy == MPI_COMM_NULL);
}

static void splits(void) {
    MPI_Comm half, none;
    int rank = -1, size = -1, result = 0;
    /* Ties in the key are broken by the old rank; the higher key comes first here. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, own_rank % 2, -own_rank, &half));
    OK(MPI_Comm_rank(half, &rank));
    OK(MPI_Comm_size(half, &size));
    CHECK(size == 2 && rank == (own_rank < 2 ? 1 : 0));
    OK(MPI_Comm_compare(half, MPI_COMM_WORLD, &result));
    CHECK_EQUAL(result, MPI_UNEQUAL);
    OK(MPI_Comm_split(MPI_COMM_WORLD, own_rank == 0 ? MPI_UNDEFINED : 1, 0, &none));
    CHECK((none == MPI_COMM_NULL) == (own_rank == 0));
    if (own_rank != 0) OK(MPI_Comm_free(&none));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half));
    OK(MPI_Comm_size(half, &size));
    CHECK_EQUAL(size, atoi(getenv("DLRT_LOCAL_SIZE")));
    OK(MPI_Comm_rank(half, &rank));
    CHECK_EQUAL(rank, atoi(getenv("DLRT_LOCAL_RANK")));
    OK(MPI_Comm_compare(half, MPI_COMM_WORLD, &result));
    CHECK_EQUAL(result, size == 4 ? MPI_CONGRUENT : MPI_UNEQUAL);
    OK(MPI_Comm_free(&half));
}

static void groups(void) {
    MPI_Group world, odd, rest, none;
    const int odds[2] = {1, 3}, named[2] = {1, MPI_PROC_NULL};
    int translated[2], rank = 0;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 2, odds, &odd));
    OK(MPI_Group_difference(world, odd, &rest));
    OK(MPI_Group_translate_ranks(odd, 2, named, world, translated));
    CHECK(translated[0] == 3 && translated[1] == MPI_PROC_NULL);
    OK(MPI_Group_rank(rest, &rank));
    CHECK_EQUAL(rank, own_rank % 2 == 0 ? own_rank / 2 : MPI_UNDEFINED);
    OK(MPI_Group_intersection(odd, rest, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    MPI_Comm part_comm;
    if (own_rank % 2 == 1) {
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &part_comm));
        OK(MPI_Comm_rank(part_comm, &rank));
        CHECK_EQUAL(rank, own_rank / 2);
        OK(MPI_Comm_free(&part_comm));
    }
    OK(MPI_Comm_create(MPI_COMM_WORLD, rest, &part_comm));
    CHECK((part_comm == MPI_COMM_NULL) == (own_rank % 2 == 1));
    if (part_comm != MPI_COMM_NULL) OK(MPI_Comm_free(&part_comm));
    OK(MPI_Group_free(&odd));
    OK(MPI_Group_free(&rest));
    OK(MPI_Group_free(&world));
}

/* The first rank comes last: nobody may wait for it within the call. */
static void duplicates_under_way(void) {
    MPI_Comm copy;
    MPI_Request request;
    int sum = 0;
    if (own_rank == 0) OK(MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
    if (own_rank == 1) OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
    OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&own_rank, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK_EQUAL(sum, 6);
    OK(MPI_Comm_free(&copy));
}

static void between_groups(void) {
    MPI_Comm half, between, all, copy;
    MPI_Request request;
    int flag = 0, size = 0, value = own_rank, sum = 0, rank = -1;
    const int is_high = own_rank >= 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, is_high, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_high ? 0 : 2, 3, &between));
    OK(MPI_Comm_test_inter(between, &flag));
    OK(MPI_Comm_remote_size(between, &size));
    CHECK(flag && size == 2);
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between));
    CHECK_EQUAL(sum, is_high ? 0 + 1 : 2 + 3);
    const int root = is_high ? 0 : (own_rank == 0 ? MPI_ROOT : MPI_PROC_NULL);
    value = own_rank == 0 ? 99 : 0;
    OK(MPI_Bcast(&value, 1, MPI_INT, root, between));
    CHECK_EQUAL(value, is_high || own_rank == 0 ? 99 : 0);
    /* Of whoever is no part of it nothing counts but root and communicator. */
    value = own_rank, sum = 0;
    if (own_rank == 1) {
        OK(MPI_Reduce(NULL, NULL, 0, MPI_BYTE, MPI_SUM, root, between));
    } else {
        OK(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, between));
    }
    CHECK_EQUAL(sum, own_rank == 0 ? 2 + 3 : 0);
    OK(MPI_Intercomm_merge(between, !is_high, &all));
    OK(MPI_Comm_rank(all, &rank));
    CHECK_EQUAL(rank, (own_rank + 2) % 4);
    OK(MPI_Comm_idup(between, &copy, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(copy));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&half));
}

static int deleted, refusing;
static int keep_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)keyval;
    *(void**)out = in;
    *flag = *(int*)extra;
    return MPI_SUCCESS;
}
static int count_deletion(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    if (refusing) return MPI_ERR_OTHER;
    ++deleted;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int wants_copy = 1, value = 0, flag = 0, *got = NULL, keyval = MPI_KEYVAL_INVALID;
    MPI_Comm first, second;
    OK(MPI_Comm_create_keyval(keep_copy, count_deletion, &keyval, &wants_copy));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    OK(MPI_Comm_set_attr(first, keyval, &value));
    OK(MPI_Comm_set_attr(first, keyval, &flag));
    CHECK_EQUAL(deleted, 1);
    OK(MPI_Comm_dup(first, &second));
    OK(MPI_Comm_get_attr(second, keyval, &got, &flag));
    CHECK(flag && got == &flag);
    OK(MPI_Comm_free(&second));
    CHECK_EQUAL(deleted, 2);
    wants_copy = 0;
    OK(MPI_Comm_dup(first, &second));
    OK(MPI_Comm_get_attr(second, keyval, &got, &flag));
    CHECK(!flag);
    OK(MPI_Comm_free(&second));
    OK(MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN));
    refusing = 1;
    CHECK_EQUAL(MPI_Comm_free(&first), MPI_ERR_OTHER);
    refusing = 0;
    OK(MPI_Comm_free_keyval(&keyval));
    CHECK_EQUAL(keyval, MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free(&first));
    CHECK_EQUAL(deleted, 3);
    /* Hosts have clocks of their own. */
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &got, &flag));
    CHECK(flag && *got == (atoi(getenv("DLRT_NUM_NODES")) == 1));
}

static MPI_Comm handled_comm;
static int handled_code;
static void handle(MPI_Comm* comm, int* code, ...) {
    handled_comm = *comm;
    handled_code = *code;
}

static void error_handlers(void) {
    MPI_Comm comm, copy;
    MPI_Errhandler handler, got;
    int error_class = 0, own_class = 0, own_code = 0, length = 0, *last = NULL, flag = 0;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_dup(comm, &copy));
    CHECK_EQUAL(MPI_Send(NULL, 0, MPI_INT, 99, 0, copy), MPI_ERR_RANK);
    CHECK(handled_comm == copy && handled_code == MPI_ERR_RANK);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Add_error_class(&own_class));
    OK(MPI_Add_error_code(own_class, &own_code));
    OK(MPI_Add_error_string(own_code, "my own"));
    CHECK(own_class > MPI_ERR_LASTCODE && own_code > own_class);
    OK(MPI_Error_class(own_code, &error_class));
    CHECK_EQUAL(error_class, own_class);
    OK(MPI_Error_string(own_code, text, &length));
    CHECK(strcmp(text, "my own") == 0 && length == 6);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK_EQUAL(*last, own_code);
    for (int i = 0; i <= MPI_ERR_ABI; ++i) {
        OK(MPI_Error_string(i, text, &length));
        CHECK(length > 0 && length < MPI_MAX_ERROR_STRING);
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    int flags = 0;
    CHECK_EQUAL(MPI_Comm_size(MPI_COMM_NULL, &flags), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Comm_size((MPI_Comm)0, &flags), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Comm_size(copy, &flags), MPI_ERR_COMM);
    MPI_Win window;
    CHECK_EQUAL(
        MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window),
        MPI_ERR_UNSUPPORTED_OPERATION
    );
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* A ring of two and a ring of one: each direction has its own block. */
static void grids(void) {
    const int sizes[2] = {2, 2}, periods[2] = {1, 0}, remain[2] = {1, 0};
    int coordinates[2], source = 0, target = 0, rank = 0, dims[3] = {0, 0, 0};
    MPI_Comm grid, line;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid));
    OK(MPI_Cart_coords(grid, own_rank, 2, coordinates));
    CHECK(coordinates[0] == own_rank / 2 && coordinates[1] == own_rank % 2);
    OK(MPI_Cart_shift(grid, 1, 1, &source, &target));
    CHECK_EQUAL(target, own_rank % 2 == 0 ? own_rank + 1 : MPI_PROC_NULL);
    int out[4], in[4] = {-1, -1, -1, -1};
    for (int i = 0; i < 4; ++i) out[i] = 10 * own_rank + i;
    OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid));
    const int other = (own_rank + 2) % 4;
    CHECK(in[0] == 10 * other + 1 && in[1] == 10 * other);
    CHECK_EQUAL(in[2], own_rank % 2 == 1 ? 10 * (own_rank - 1) + 3 : -1);
    OK(MPI_Cart_sub(grid, remain, &line));
    OK(MPI_Comm_size(line, &rank));
    CHECK_EQUAL(rank, 2);
    OK(MPI_Cartdim_get(line, &rank));
    CHECK_EQUAL(rank, 1);
    OK(MPI_Comm_free(&line));
    OK(MPI_Comm_free(&grid));
    OK(MPI_Dims_create(24, 3, dims));
    CHECK(dims[0] == 4 && dims[1] == 3 && dims[2] == 2);
    dims[0] = dims[2] = 0, dims[1] = 3;
    OK(MPI_Dims_create(24, 3, dims));
    CHECK(dims[0] == 4 && dims[1] == 3 && dims[2] == 2);
    dims[0] = dims[1] = dims[2] = 0;
    OK(MPI_Dims_create(5040, 3, dims));
    CHECK(dims[0] == 21 && dims[1] == 16 && dims[2] == 15);
    int five[5] = {0, 0, 0, 0, 0};
    OK(MPI_Dims_create(98784, 5, five));
    CHECK(five[0] == 14 && five[1] == 14 && five[2] == 9 && five[3] == 8 && five[4] == 7);
    /* The largest prime of 31 bits, and the product of two: found among their divisors. */
    for (int i = 0; i < 5; ++i) five[i] = 0;
    OK(MPI_Dims_create(2147483647, 5, five));
    CHECK(five[0] == 2147483647 && five[1] == 1 && five[4] == 1);
    dims[0] = dims[1] = dims[2] = 0;
    OK(MPI_Dims_create(46337 * 46327, 3, dims));
    CHECK(dims[0] == 46337 && dims[1] == 46327 && dims[2] == 1);
}

static void graphs(void) {
    const int next = (own_rank + 1) % 4, before = (own_rank + 3) % 4;
    const int degree = 1, weight = own_rank + 1;
    int in = -1, in_count = 0, out_count = 0, is_weighted = 0, source = 0, target = 0;
    int source_weight = 0, target_weight = 0;
    MPI_Comm ring;
    OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
        &ring
    ));
    OK(MPI_Neighbor_allgather(&own_rank, 1, MPI_INT, &in, 1, MPI_INT, ring));
    CHECK_EQUAL(in, before);
    OK(MPI_Dist_graph_neighbors_count(ring, &in_count, &out_count, &is_weighted));
    CHECK(in_count == 1 && out_count == 1 && !is_weighted);
    OK(MPI_Comm_free(&ring));
    /* Each rank names the edge that leaves the one before it. */
    OK(MPI_Dist_graph_create(
        MPI_COMM_WORLD, 1, &before, &degree, &own_rank, &weight, MPI_INFO_NULL, 0, &ring
    ));
    OK(MPI_Dist_graph_neighbors(ring, 1, &source, &source_weight, 1, &target, &target_weight));
    CHECK(source == before && source_weight == own_rank + 1);
    CHECK(target == next && target_weight == next + 1);
    OK(MPI_Comm_free(&ring));
    /* Edges that only one of their ranks names can be asked for, and used for nothing else. */
    OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring
    ));
    OK(MPI_Dist_graph_neighbors_count(ring, &in_count, &out_count, &is_weighted));
    CHECK(in_count == 1 && out_count == 0);
    OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
    CHECK_EQUAL(
        MPI_Neighbor_allgather(&own_rank, 1, MPI_INT, &in, 1, MPI_INT, ring), MPI_ERR_TOPOLOGY
    );
    OK(MPI_Comm_free(&ring));
    const int index[4] = {2, 4, 6, 8}, edges[8] = {1, 3, 0, 2, 1, 3, 2, 0};
    int both[2] = {-1, -1}, count = 0;
    OK(MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &ring));
    OK(MPI_Graph_neighbors_count(ring, own_rank, &count));
    CHECK_EQUAL(count, 2);
    OK(MPI_Neighbor_allgather(&own_rank, 1, MPI_INT, both, 1, MPI_INT, ring));
    CHECK(both[0] == edges[2 * own_rank] && both[1] == edges[2 * own_rank + 1]);
    OK(MPI_Comm_free(&ring));
}

static void infos(void) {
    MPI_Info info, copy;
    char value[10];
    int flag = 0, length = 3, count = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "first", "1"));
    OK(MPI_Info_set(info, "second", "abcdef"));
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_get_string(copy, "second", &length, value, &flag));
    CHECK(flag && length == 7 && strcmp(value, "ab") == 0);
    OK(MPI_Info_delete(copy, "first"));
    OK(MPI_Info_get_nkeys(copy, &count));
    CHECK_EQUAL(count, 1);
    OK(MPI_Info_get_nthkey(info, 1, value));
    CHECK(strcmp(value, "second") == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&copy));
}

static int order_of_end[2], ended;
static int at_end(MPI_Comm comm, int keyval, void* value, void* extra) {
    int flag = 1, sum = 0;
    (void)keyval, (void)extra;
    CHECK(comm == MPI_COMM_SELF);
    OK(MPI_Finalized(&flag));
    CHECK(!flag);
    OK(MPI_Allreduce(&own_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(sum, 6);
    order_of_end[ended++] = *(int*)value;
    return MPI_SUCCESS;
}

int main(void) {
    int flag = 1, keyval = MPI_KEYVAL_INVALID, version = 0, subversion = 0;
    static int numbers[2] = {1, 2};
    MPI_Info early;
    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    OK(MPI_Get_version(&version, &subversion));
    CHECK(version == 5 && subversion == 0);
    OK(MPI_Info_create(&early));
    MPI_Info fortran = early;
    OK(MPI_Abi_get_fortran_info(&fortran));
    CHECK(fortran == MPI_INFO_NULL);
    OK(MPI_Abi_get_fortran_booleans(4, &version, &subversion, &flag));
    CHECK(!flag && version == 5);
    start_mpi();
    CHECK_EQUAL(world_size, 4);
    part(handles_as_integers);
    part(splits);
    part(groups);
    part(duplicates_under_way);
    part(between_groups);
    part(attributes);
    part(error_handlers);
    part(grids);
    part(graphs);
    part(infos);
    for (int i = 0; i < 2; ++i) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &numbers[i]));
    }
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    if (!flag || ended != 2 || order_of_end[0] != 2 || order_of_end[1] != 1) return 1;
    return MPI_Info_free(&early);
}
