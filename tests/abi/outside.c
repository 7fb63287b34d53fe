/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for a user's program: built outside the tree with what pkg-config says, nothing else. */
#include <dlrt.h>

#include <stdio.h>

int main(void) {
    int32_t rank = 0;
    int32_t size = 0;
    int32_t sum = 0;
    if (dlrt_init() != DLRT_OK || dlrt_comm_rank(DLRT_COMM_WORLD, &rank) != DLRT_OK ||
        dlrt_comm_size(DLRT_COMM_WORLD, &size) != DLRT_OK ||
        dlrt_allreduce(&rank, &sum, 1, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD) != DLRT_OK) {
        fprintf(stderr, "%s\n", dlrt_last_error());
        return 1;
    }
    printf("rank %d of %d, sum %d\n", (int)rank, (int)size, (int)sum);
    return dlrt_finalize() == DLRT_OK ? 0 : 1;
}
