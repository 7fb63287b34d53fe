/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random nested types beside a model that only knows the standard's type maps: sizes and bounds,
 * packing and unpacking, and messages from one type into another with the same signature. What lies
 * in gaps stays as it is. 2 ranks; usage: random_types ROUNDS
 */
#include <stdint.h>

#include "check.h"

enum { entries_max = 400, reach = 20000, depth_max = 4, block_max = 4 };

/* A type map: basic types at displacements in bytes, and the bounds. */
struct entry {
    long place;
    int basic;
};
struct map {
    int count;
    long lb, ub;
    struct entry entries[entries_max];
};

static MPI_Datatype basics[4];
static const int basic_bytes[4] = {1, 2, 4, 8};
static unsigned long long random_state;

static int below(int limit) {
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((random_state >> 33) % (unsigned)limit);
}

static long extent_of(const struct map* map) {
    return map->ub - map->lb;
}

static int fits = 1;

/* `count` instances of the old map, one after the other, from a place on. */
static void add_block(struct map* map, const struct map* old, long place, int count) {
    for (int i = 0; i < count; ++i) {
        const long at = place + i * extent_of(old);
        const long lb = at + old->lb, ub = at + old->ub;
        const int is_first = map->count == 0 && map->lb == 0 && map->ub == 0;
        map->lb = is_first || lb < map->lb ? lb : map->lb;
        map->ub = is_first || ub > map->ub ? ub : map->ub;
        if (map->count + old->count > entries_max || at > reach || at < -reach) {
            fits = 0;
            return;
        }
        for (int k = 0; k < old->count; ++k) {
            map->entries[map->count] = old->entries[k];
            map->entries[map->count++].place += at;
        }
    }
}

static MPI_Datatype make_vector(const struct map* old, MPI_Datatype type, struct map* map) {
    const int count = below(4), length = below(3), stride = below(9) - 3;
    const int is_in_bytes = below(2);
    MPI_Datatype made;
    if (is_in_bytes) {
        OK(MPI_Type_create_hvector(count, length, (MPI_Aint)stride * 8, type, &made));
    } else {
        OK(MPI_Type_vector(count, length, stride, type, &made));
    }
    const long step = stride * (is_in_bytes ? 8 : extent_of(old));
    for (int i = 0; i < count; ++i) add_block(map, old, i * step, length);
    return made;
}

static MPI_Datatype make_indexed(const struct map* old, MPI_Datatype type, struct map* map) {
    const int count = below(block_max + 1), kind = below(3);
    int lengths[block_max], places[block_max];
    MPI_Aint byte_places[block_max];
    MPI_Datatype made;
    for (int i = 0; i < count; ++i) {
        lengths[i] = kind == 2 ? 2 : below(3);
        places[i] = below(16) - 4;
        byte_places[i] = 8 * places[i];
    }
    if (kind == 0) {
        OK(MPI_Type_indexed(count, lengths, places, type, &made));
    } else if (kind == 1) {
        OK(MPI_Type_create_hindexed(count, lengths, byte_places, type, &made));
    } else {
        OK(MPI_Type_create_indexed_block(count, 2, places, type, &made));
    }
    for (int i = 0; i < count; ++i) {
        add_block(map, old, kind == 1 ? byte_places[i] : places[i] * extent_of(old), lengths[i]);
    }
    return made;
}

/* Padding behind a structure is the implementation's: the bounds are set at once. */
static MPI_Datatype make_struct(const struct map* old, MPI_Datatype type, struct map* map) {
    int lengths[block_max];
    MPI_Aint places[block_max];
    MPI_Datatype types[block_max], made, resized;
    const int count = 1 + below(block_max);
    for (int i = 0; i < count; ++i) {
        lengths[i] = below(3);
        places[i] = 8 * (below(20) - 4);
        types[i] = type;
        if (below(2) == 0) {
            add_block(map, old, places[i], lengths[i]);
            continue;
        }
        const int basic = below(4);
        struct map one = {1, 0, basic_bytes[basic], {{0, basic}}};
        types[i] = basics[basic];
        add_block(map, &one, places[i], lengths[i]);
    }
    OK(MPI_Type_create_struct(count, lengths, places, types, &made));
    map->lb = 4 * (below(9) - 4);
    map->ub = map->lb + 8 * below(30);
    OK(MPI_Type_create_resized(made, map->lb, extent_of(map), &resized));
    OK(MPI_Type_free(&made));
    return resized;
}

/* Which indices of a dimension are in it. */
struct indices {
    int count, at[12];
};

static MPI_Datatype finish_array(
    const struct map* old, const int* sizes, const struct indices* dims, int order, struct map* map
) {
    const int is_c = order == MPI_ORDER_C;
    const struct indices *outer = &dims[is_c ? 0 : 1], *inner = &dims[is_c ? 1 : 0];
    for (int i = 0; i < outer->count; ++i) {
        for (int k = 0; k < inner->count; ++k) {
            const long at = (long)outer->at[i] * sizes[is_c ? 1 : 0] + inner->at[k];
            add_block(map, old, at * extent_of(old), 1);
        }
    }
    map->lb = 0;
    map->ub = (long)sizes[0] * sizes[1] * extent_of(old);
    return MPI_DATATYPE_NULL;
}

static MPI_Datatype make_subarray(const struct map* old, MPI_Datatype type, struct map* map) {
    int sizes[2], parts[2], starts[2];
    struct indices dims[2];
    const int order = below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < 2; ++d) {
        sizes[d] = 1 + below(5);
        parts[d] = 1 + below(sizes[d]);
        starts[d] = below(sizes[d] - parts[d] + 1);
        dims[d].count = parts[d];
        for (int i = 0; i < parts[d]; ++i) dims[d].at[i] = starts[d] + i;
    }
    MPI_Datatype made;
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, order, type, &made));
    finish_array(old, sizes, dims, order, map);
    return made;
}

static MPI_Datatype make_darray(const struct map* old, MPI_Datatype type, struct map* map) {
    const int kinds_all[3] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int sizes[2], kinds[2], arguments[2], grid[2];
    struct indices dims[2];
    const int order = below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < 2; ++d) {
        sizes[d] = 1 + below(10);
        kinds[d] = kinds_all[below(3)];
        grid[d] = kinds[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        arguments[d] = below(2) == 0 || kinds[d] == MPI_DISTRIBUTE_NONE ? MPI_DISTRIBUTE_DFLT_DARG
                                                                        : 1 + below(3);
        if (kinds[d] == MPI_DISTRIBUTE_BLOCK && arguments[d] * grid[d] < sizes[d]) {
            arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
        }
    }
    const int rank = below(grid[0] * grid[1]);
    const int places[2] = {rank / grid[1], rank % grid[1]};
    for (int d = 0; d < 2; ++d) {
        int block = arguments[d];
        if (block == MPI_DISTRIBUTE_DFLT_DARG) {
            block = kinds[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[d] + grid[d] - 1) / grid[d];
        }
        dims[d].count = 0;
        for (int i = 0; i < sizes[d]; ++i) {
            if (i / block % grid[d] == places[d]) dims[d].at[dims[d].count++] = i;
        }
    }
    MPI_Datatype made;
    OK(MPI_Type_create_darray(
        grid[0] * grid[1], rank, 2, sizes, kinds, arguments, grid, order, type, &made
    ));
    finish_array(old, sizes, dims, order, map);
    return made;
}

static MPI_Datatype make_resized(const struct map* old, MPI_Datatype type, struct map* map) {
    MPI_Datatype made;
    *map = *old;
    map->lb = 4 * (below(9) - 4);
    map->ub = map->lb + 8 * below(20);
    OK(MPI_Type_create_resized(type, map->lb, extent_of(map), &made));
    return made;
}

static MPI_Datatype make_contiguous(const struct map* old, MPI_Datatype type, struct map* map) {
    const int count = below(4);
    MPI_Datatype made;
    OK(MPI_Type_contiguous(count, type, &made));
    add_block(map, old, 0, count);
    return made;
}

/* A type of random depth; null where it became too large. The parts go before it is used. */
static MPI_Datatype make_type(struct map* map) {
    typedef MPI_Datatype (*maker)(const struct map*, MPI_Datatype, struct map*);
    static const maker makers[] = {
        make_contiguous, make_vector, make_indexed, make_struct,
        make_subarray,   make_darray, make_resized,
    };
    const int basic = below(4), depth = 1 + below(depth_max);
    MPI_Datatype type = basics[basic];
    *map = (struct map){1, 0, basic_bytes[basic], {{0, basic}}};
    fits = 1;
    /* What is made of nothing has no bounds that the standard names. */
    for (int i = 0; i < depth && fits && map->count > 0; ++i) {
        static struct map made;
        memset(&made, 0, sizeof(made));
        const MPI_Datatype next = makers[below(7)](map, type, &made);
        if (i > 0) OK(MPI_Type_free(&type));
        type = next;
        *map = made;
    }
    if (fits && extent_of(map) < reach) return type;
    OK(MPI_Type_free(&type));
    return MPI_DATATYPE_NULL;
}

enum { room = 4 * reach, copies = 2, stream_max = copies * entries_max * 8 };
static unsigned char data[room + 1], back[room + 1], expected[room + 1];
static unsigned char stream[stream_max], packed[stream_max + 1];
static unsigned char* const middle = data + room / 2;

/* Of so many instances; returns its length. Where the map covers a byte twice *is_clear is 0. */
static int make_stream(const struct map* map, int count, int* is_clear) {
    static unsigned char covered[room + 1];
    int length = 0;
    memset(covered, 0, sizeof(covered));
    *is_clear = 1;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < map->count; ++k) {
            const long at = i * extent_of(map) + map->entries[k].place;
            const int bytes = basic_bytes[map->entries[k].basic];
            memcpy(stream + length, middle + at, (size_t)bytes);
            length += bytes;
            for (int b = 0; b < bytes; ++b) {
                if (covered[room / 2 + at + b]++ > 0) *is_clear = 0;
            }
        }
    }
    return length;
}

static void check_bounds(MPI_Datatype type, const struct map* map) {
    MPI_Aint lb = -1, extent = -1;
    int size = -1, bytes = 0;
    long true_lb = 0, true_ub = 0;
    for (int k = 0; k < map->count; ++k) {
        const long place = map->entries[k].place;
        const long end = place + basic_bytes[map->entries[k].basic];
        true_lb = k == 0 || place < true_lb ? place : true_lb;
        true_ub = k == 0 || end > true_ub ? end : true_ub;
        bytes += basic_bytes[map->entries[k].basic];
    }
    OK(MPI_Type_size(type, &size));
    CHECK_EQUAL(size, bytes);
    OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_EQUAL(lb, map->lb);
    CHECK_EQUAL(extent, extent_of(map));
    OK(MPI_Type_get_true_extent(type, &lb, &extent));
    CHECK_EQUAL(lb, true_lb);
    CHECK_EQUAL(extent, true_ub - true_lb);
}

static void check_packing(MPI_Datatype type, const struct map* map, int count) {
    int is_clear = 0, position = 0, size = 0;
    const int length = make_stream(map, count, &is_clear);
    OK(MPI_Pack_size(count, type, MPI_COMM_WORLD, &size));
    CHECK(size >= length);
    packed[length] = 77;
    OK(MPI_Pack(middle, count, type, packed, length, &position, MPI_COMM_WORLD));
    CHECK_EQUAL(position, length);
    CHECK(memcmp(packed, stream, (size_t)length) == 0 && packed[length] == 77);
    if (!is_clear) return;
    memset(back, 0xee, sizeof(back));
    memset(expected, 0xee, sizeof(expected));
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < map->count; ++k) {
            const long at = i * extent_of(map) + map->entries[k].place;
            memcpy(
                expected + room / 2 + at, middle + at, (size_t)basic_bytes[map->entries[k].basic]
            );
        }
    }
    position = 0;
    OK(MPI_Unpack(packed, length, &position, back + room / 2, count, type, MPI_COMM_WORLD));
    CHECK(memcmp(back, expected, sizeof(back)) == 0);
    /* From rank 0 as this type, and at rank 1 into it. */
    memset(back, 0xee, sizeof(back));
    if (own_rank == 0) {
        OK(MPI_Send(middle, count, type, 1, 1, MPI_COMM_WORLD));
    } else {
        MPI_Status status;
        int got = -1;
        OK(MPI_Recv(back + room / 2, count, type, 0, 1, MPI_COMM_WORLD, &status));
        CHECK(memcmp(back, expected, sizeof(back)) == 0);
        OK(MPI_Get_count(&status, type, &got));
        CHECK_EQUAL(got, length == 0 ? 0 : count);
        OK(MPI_Get_elements(&status, type, &got));
        CHECK_EQUAL(got, count * map->count);
    }
}

/* The same signature as one instance, each element at a place of its own, in another order. */
static void check_signature(MPI_Datatype type, const struct map* map) {
    static int lengths[entries_max];
    static MPI_Aint places[entries_max];
    static MPI_Datatype types[entries_max];
    MPI_Datatype other;
    int is_clear = 0, at = 0;
    const int length = make_stream(map, 1, &is_clear);
    for (int k = 0; k < map->count; ++k) {
        lengths[k] = 1;
        places[k] = 16 * ((k * 7) % map->count) + 8 * (map->count % 7 == 0 ? k % 2 : 0);
        if (map->count % 7 == 0) places[k] = 16 * k;
        types[k] = basics[map->entries[k].basic];
    }
    OK(MPI_Type_create_struct(map->count, lengths, places, types, &other));
    OK(MPI_Type_commit(&other));
    memset(back, 0xee, sizeof(back));
    if (own_rank == 0) {
        OK(MPI_Send(middle, 1, type, 1, 2, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(back, 1, other, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        memset(expected, 0xee, sizeof(expected));
        for (int k = 0; k < map->count; ++k) {
            const int bytes = basic_bytes[map->entries[k].basic];
            memcpy(expected + places[k], stream + at, (size_t)bytes);
            at += bytes;
        }
        CHECK(at == length && memcmp(back, expected, sizeof(back)) == 0);
    }
    OK(MPI_Type_free(&other));
}

int main(int argc, char** argv) {
    start_mpi();
    CHECK_EQUAL(world_size, 2);
    const int rounds = argc > 1 ? atoi(argv[1]) : 500;
    int made = 0;
    basics[0] = MPI_CHAR, basics[1] = MPI_SHORT, basics[2] = MPI_INT, basics[3] = MPI_DOUBLE;
    for (int i = 0; i <= room; ++i) data[i] = (unsigned char)(i * 31 + i / 256);
    for (int round = 0; round < rounds; ++round) {
        static struct map map;
        random_state = (unsigned long long)round * 0x9e3779b97f4a7c15ULL + 1;
        MPI_Datatype type = make_type(&map);
        if (type == MPI_DATATYPE_NULL) continue;
        ++made;
        OK(MPI_Type_commit(&type));
        check_bounds(type, &map);
        for (int count = 0; count <= copies; ++count) check_packing(type, &map, count);
        if (map.count > 0) check_signature(type, &map);
        OK(MPI_Type_free(&type));
    }
    CHECK(made > rounds / 3);
    OK(MPI_Finalize());
    return 0;
}
