/* SPDX-License-Identifier: Apache-2.0 */
/* dlrt.h compiles as plain C99, and what others depend on has the sizes and numbers it was
 * published with. */
#include "dlrt.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int failure_count = 0;

static void expect(const char* what, long long value, long long right) {
    if (value == right) return;
    fprintf(stderr, "%s is %lld, not %lld\n", what, value, right);
    failure_count++;
}

#define EXPECT(value, right) expect(#value, (long long)(value), (long long)(right))

static void check_layout(void) {
    EXPECT(sizeof(dlrt_comm), 8);
    EXPECT(sizeof(dlrt_group), 8);
    EXPECT(sizeof(dlrt_type), 8);
    EXPECT(sizeof(dlrt_request), 8);
    EXPECT(sizeof(dlrt_message), 8);
    EXPECT(sizeof(dlrt_err), 4);
    EXPECT(sizeof(dlrt_op), 4);
    EXPECT(sizeof(dlrt_thread_level), 4);
    EXPECT(sizeof(dlrt_comparison), 4);
    EXPECT(sizeof(dlrt_order), 4);
    EXPECT(sizeof(dlrt_status), 40);
    EXPECT(offsetof(dlrt_status, source), 0);
    EXPECT(offsetof(dlrt_status, tag), 4);
    EXPECT(offsetof(dlrt_status, error), 8);
    EXPECT(offsetof(dlrt_status, cancelled), 12);
    EXPECT(offsetof(dlrt_status, size_bytes), 16);
    EXPECT(offsetof(dlrt_status, reserved), 24);
    EXPECT(sizeof(dlrt_store), 40);
    EXPECT(offsetof(dlrt_store, put), 16);
    EXPECT(offsetof(dlrt_store, rank), 32);
}

static void check_numbers(void) {
    EXPECT(DLRT_OK, 0);
    EXPECT(DLRT_ERR_RANK, 6);
    EXPECT(DLRT_ERR_TRUNCATE, 13);
    EXPECT(DLRT_ERR_TIMEOUT, 28);
    EXPECT(DLRT_PROC_NULL, -1);
    EXPECT(DLRT_ANY_SOURCE, -2);
    EXPECT(DLRT_ANY_TAG, -1);
    EXPECT(DLRT_UNDEFINED, -32766);
    EXPECT(DLRT_COMM_WORLD.index, 1);
    EXPECT(DLRT_COMM_SELF.index, 2);
    EXPECT(DLRT_GROUP_EMPTY.index, 1);
    EXPECT(DLRT_MESSAGE_NO_PROC.index, 1);
    EXPECT(DLRT_BYTE.index, 1);
    EXPECT(DLRT_INT.index, DLRT_INT32.index);
    EXPECT(DLRT_LONG.index, sizeof(long) == 8 ? DLRT_INT64.index : DLRT_INT32.index);
    EXPECT(DLRT_COMPLEX_DOUBLE.index, 18);
    EXPECT(DLRT_BXOR, 10);
    EXPECT(DLRT_THREAD_MULTIPLE, 3);
    EXPECT(DLRT_UNEQUAL, 3);
    EXPECT(DLRT_COLUMN_MAJOR, 1);
    EXPECT(DLRT_COMM_NULL.index + DLRT_TYPE_NULL.index + DLRT_REQUEST_NULL.index, 0);
    EXPECT(DLRT_GROUP_NULL.index + DLRT_MESSAGE_NULL.index, 0);
}

int main(void) {
    check_layout();
    check_numbers();
    /* Works at any time, before init too. */
    EXPECT(
        dlrt_version(), DLRT_VERSION_MAJOR * 10000 + DLRT_VERSION_MINOR * 100 + DLRT_VERSION_PATCH
    );
    EXPECT(dlrt_initialized(), 0);
    EXPECT(dlrt_finalized(), 0);
    EXPECT(strcmp(dlrt_error_name(DLRT_ERR_RANK), "ERR_RANK"), 0);
    EXPECT(strcmp(dlrt_error_name((dlrt_err)12345), "ERR_UNKNOWN"), 0);
    EXPECT(strlen(dlrt_error_text(DLRT_ERR_RANK)) > 0, 1);
    EXPECT(strcmp(dlrt_last_error(), ""), 0);
    EXPECT(dlrt_barrier(DLRT_COMM_WORLD), DLRT_ERR_NOT_INITIALIZED);
    EXPECT(strncmp(dlrt_last_error(), "dlrt_barrier: ", 14), 0);
    return failure_count == 0 ? 0 : 1;
}
