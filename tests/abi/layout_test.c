/* SPDX-License-Identifier: Apache-2.0 */
/* dlrt.h compiles as plain C99, and what programs have compiled in has the numbers, sizes and
 * offsets that it was published with. */
#include "dlrt.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct pin {
    const char* what;
    long long value;
    long long right;
};
#define PIN(what, right) \
    { #what, (long long)(what), right }
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

static int wrong_count(const struct pin* pins, int count) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        if (pins[i].value == pins[i].right) continue;
        fprintf(stderr, "%s is %lld, not %lld\n", pins[i].what, pins[i].value, pins[i].right);
        ++wrong;
    }
    return wrong;
}

static int check_errors(void) {
    const struct pin pins[] = {
        PIN(DLRT_OK, 0),
        PIN(DLRT_ERR_ARG, 1),
        PIN(DLRT_ERR_COMM, 2),
        PIN(DLRT_ERR_GROUP, 3),
        PIN(DLRT_ERR_TYPE, 4),
        PIN(DLRT_ERR_OP, 5),
        PIN(DLRT_ERR_RANK, 6),
        PIN(DLRT_ERR_TAG, 7),
        PIN(DLRT_ERR_COUNT, 8),
        PIN(DLRT_ERR_BUFFER, 9),
        PIN(DLRT_ERR_REQUEST, 10),
        PIN(DLRT_ERR_ROOT, 11),
        PIN(DLRT_ERR_MESSAGE, 12),
        PIN(DLRT_ERR_TRUNCATE, 13),
        PIN(DLRT_ERR_NOT_INITIALIZED, 14),
        PIN(DLRT_ERR_ALREADY_INITIALIZED, 15),
        PIN(DLRT_ERR_THREAD, 16),
        PIN(DLRT_ERR_FORKED, 17),
        PIN(DLRT_ERR_IN_STATUS, 18),
        PIN(DLRT_ERR_PEER_LOST, 19),
        PIN(DLRT_ERR_ABORTED, 20),
        PIN(DLRT_ERR_WIREUP, 21),
        PIN(DLRT_ERR_NO_MEMORY, 22),
        PIN(DLRT_ERR_LIMIT, 23),
        PIN(DLRT_ERR_UNSUPPORTED, 24),
        PIN(DLRT_ERR_SYSTEM, 25),
        PIN(DLRT_ERR_INTERNAL, 26),
        PIN(DLRT_ERR_MISMATCH, 27),
        PIN(DLRT_ERR_TIMEOUT, 28),
    };
    return wrong_count(pins, COUNT_OF(pins));
}

static int check_numbers(void) {
    const struct pin pins[] = {
        PIN(DLRT_THREAD_SINGLE, 0),
        PIN(DLRT_THREAD_FUNNELED, 1),
        PIN(DLRT_THREAD_SERIALIZED, 2),
        PIN(DLRT_THREAD_MULTIPLE, 3),
        PIN(DLRT_THREAD_PROGRESS, 256),
        PIN(DLRT_IDENT, 0),
        PIN(DLRT_CONGRUENT, 1),
        PIN(DLRT_SIMILAR, 2),
        PIN(DLRT_UNEQUAL, 3),
        PIN(DLRT_ROW_MAJOR, 0),
        PIN(DLRT_COLUMN_MAJOR, 1),
        PIN(DLRT_PROC_NULL, -1),
        PIN(DLRT_ANY_SOURCE, -2),
        PIN(DLRT_ANY_TAG, -1),
        PIN(DLRT_ROOT, -3),
        PIN(DLRT_UNDEFINED, -32766),
        PIN((ptrdiff_t)DLRT_IN_PLACE, -1),
    };
    return wrong_count(pins, COUNT_OF(pins));
}

static int check_handles(void) {
    const struct pin pins[] = {
        PIN(DLRT_COMM_NULL.index, 0),
        PIN(DLRT_COMM_WORLD.index, 1),
        PIN(DLRT_COMM_SELF.index, 2),
        PIN(DLRT_GROUP_NULL.index, 0),
        PIN(DLRT_GROUP_EMPTY.index, 1),
        PIN(DLRT_REQUEST_NULL.index, 0),
        PIN(DLRT_MESSAGE_NULL.index, 0),
        PIN(DLRT_MESSAGE_NO_PROC.index, 1),
        PIN(DLRT_TYPE_NULL.index, 0),
        PIN(DLRT_BYTE.index, 1),
        PIN(DLRT_BOOL.index, 2),
        PIN(DLRT_CHAR.index, 3),
        PIN(DLRT_INT8.index, 4),
        PIN(DLRT_UINT8.index, 5),
        PIN(DLRT_INT16.index, 6),
        PIN(DLRT_UINT16.index, 7),
        PIN(DLRT_INT32.index, 8),
        PIN(DLRT_UINT32.index, 9),
        PIN(DLRT_INT64.index, 10),
        PIN(DLRT_UINT64.index, 11),
        PIN(DLRT_FLOAT16.index, 12),
        PIN(DLRT_BFLOAT16.index, 13),
        PIN(DLRT_FLOAT.index, 14),
        PIN(DLRT_DOUBLE.index, 15),
        PIN(DLRT_LONG_DOUBLE.index, 16),
        PIN(DLRT_COMPLEX_FLOAT.index, 17),
        PIN(DLRT_COMPLEX_DOUBLE.index, 18),
        PIN(DLRT_FLOAT_INT32.index, 19),
        PIN(DLRT_DOUBLE_INT32.index, 20),
        PIN(DLRT_INT32_INT32.index, 21),
        PIN(DLRT_INT64_INT32.index, 22),
        PIN(DLRT_INT16_INT32.index, 23),
        PIN(DLRT_LONG_DOUBLE_INT32.index, 24),
        PIN(DLRT_INT.index, 8),
        PIN(DLRT_LONG.index, sizeof(long) == 8 ? 10 : 8),
        PIN(DLRT_SIZE_T.index, sizeof(size_t) == 8 ? 11 : 9),
    };
    return wrong_count(pins, COUNT_OF(pins));
}

static int check_ops(void) {
    const struct pin pins[] = {
        PIN(DLRT_OP_NULL.index, 0),  PIN(DLRT_SUM.index, 1),   PIN(DLRT_PROD.index, 2),
        PIN(DLRT_MIN.index, 3),      PIN(DLRT_MAX.index, 4),   PIN(DLRT_LAND.index, 5),
        PIN(DLRT_LOR.index, 6),      PIN(DLRT_LXOR.index, 7),  PIN(DLRT_BAND.index, 8),
        PIN(DLRT_BOR.index, 9),      PIN(DLRT_BXOR.index, 10), PIN(DLRT_MINLOC.index, 11),
        PIN(DLRT_MAXLOC.index, 12),  PIN(DLRT_AVG.index, 13),  PIN(DLRT_SUM.generation, 0),
        PIN(DLRT_AVG.generation, 0),
    };
    return wrong_count(pins, COUNT_OF(pins));
}

static int check_layout(void) {
    const struct pin pins[] = {
        PIN(sizeof(dlrt_comm), 8),
        PIN(sizeof(dlrt_group), 8),
        PIN(sizeof(dlrt_type), 8),
        PIN(sizeof(dlrt_request), 8),
        PIN(sizeof(dlrt_message), 8),
        PIN(sizeof(dlrt_err), 4),
        PIN(sizeof(dlrt_op), 8),
        PIN(sizeof(dlrt_thread_level), 4),
        PIN(sizeof(dlrt_comparison), 4),
        PIN(sizeof(dlrt_order), 4),
        PIN(sizeof(dlrt_status), 40),
        PIN(offsetof(dlrt_comm, index), 0),
        PIN(offsetof(dlrt_comm, generation), 4),
        PIN(offsetof(dlrt_status, source), 0),
        PIN(offsetof(dlrt_status, tag), 4),
        PIN(offsetof(dlrt_status, error), 8),
        PIN(offsetof(dlrt_status, cancelled), 12),
        PIN(offsetof(dlrt_status, size_bytes), 16),
        PIN(offsetof(dlrt_status, reserved), 24),
    };
    return wrong_count(pins, COUNT_OF(pins));
}

/* Holds pointers: pinned for the data model of 64-bit Linux. */
static int check_store(void) {
    const struct pin pins[] = {
        PIN(sizeof(dlrt_store), 40),
        PIN(offsetof(dlrt_store, size), 0),
        PIN(offsetof(dlrt_store, user), 8),
        PIN(offsetof(dlrt_store, put), 16),
        PIN(offsetof(dlrt_store, get), 24),
        PIN(offsetof(dlrt_store, rank), 32),
        PIN(offsetof(dlrt_store, world_size), 36),
    };
    return sizeof(void*) == 8 ? wrong_count(pins, COUNT_OF(pins)) : 0;
}

/* What works at any time, before init too. */
static int check_calls(void) {
    const struct pin pins[] = {
        PIN(dlrt_version(),
            DLRT_VERSION_MAJOR * 10000 + DLRT_VERSION_MINOR * 100 + DLRT_VERSION_PATCH),
        PIN(dlrt_initialized(), 0),
        PIN(dlrt_finalized(), 0),
        PIN(strcmp(dlrt_error_name(DLRT_ERR_RANK), "ERR_RANK"), 0),
        PIN(strcmp(dlrt_error_name((dlrt_err)12345), "ERR_UNKNOWN"), 0),
        PIN(strlen(dlrt_error_text(DLRT_ERR_RANK)) > 0, 1),
        PIN(strcmp(dlrt_last_error(), ""), 0),
        PIN(dlrt_barrier(DLRT_COMM_WORLD), DLRT_ERR_NOT_INITIALIZED),
    };
    return wrong_count(pins, COUNT_OF(pins));
}

int main(void) {
    const int wrong = check_errors() + check_numbers() + check_handles() + check_ops() +
                      check_layout() + check_store() + check_calls();
    return wrong == 0 ? 0 : 1;
}
