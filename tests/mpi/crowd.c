/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Far more ranks than processors: those that wait must not keep those that work from working. The
 * time limit of the test is the check. 16 ranks.
 */
#include "check.h"

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 16);
    for (int i = 0; i < 1000; ++i) OK(MPI_Barrier(MPI_COMM_WORLD));
    /* A token goes round while the others wait for it. */
    int token = 0;
    const int before = (own_rank + world_size - 1) % world_size;
    const int next = (own_rank + 1) % world_size;
    for (int i = 0; i < 50; ++i) {
        if (own_rank > 0 || i > 0) {
            OK(MPI_Recv(&token, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        ++token;
        OK(MPI_Send(&token, 1, MPI_INT, next, 1, MPI_COMM_WORLD));
    }
    if (own_rank == 0) {
        OK(MPI_Recv(&token, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQUAL(token, 50 * world_size);
    }
    OK(MPI_Finalize());
    return 0;
}
