/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank says hello; then a token goes once around the ring of ranks and counts them. */
#include <dlrt.h>

#include <stdio.h>

static void check(dlrt_err error) {
    if (error != DLRT_OK) dlrt_abort(1, dlrt_last_error());
}

int main(void) {
    int32_t rank, size, token = 0, counted = 0;
    dlrt_request sending;
    check(dlrt_init());
    check(dlrt_comm_rank(DLRT_COMM_WORLD, &rank));
    check(dlrt_comm_size(DLRT_COMM_WORLD, &size));
    printf("hello from rank %d of %d\n", (int)rank, (int)size);

    if (rank != 0) check(dlrt_recv(&token, 1, DLRT_INT, rank - 1, 0, DLRT_COMM_WORLD, NULL));
    ++token;
    check(dlrt_isend(&token, 1, DLRT_INT, (rank + 1) % size, 0, DLRT_COMM_WORLD, &sending));
    if (rank == 0) {
        check(dlrt_recv(&counted, 1, DLRT_INT, size - 1, 0, DLRT_COMM_WORLD, NULL));
        printf("the token counted %d ranks\n", (int)counted);
    }
    check(dlrt_wait(&sending, NULL));
    check(dlrt_finalize());
    return 0;
}
