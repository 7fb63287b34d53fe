/* SPDX-License-Identifier: Apache-2.0 */
/* Sends three messages; the tool that is loaded before the library must have seen them. 2 ranks. */
#include "check.h"

int main(void) {
    int value = 0;
    start_mpi();
    for (int i = 0; i < 3; ++i) {
        if (own_rank == 0) OK(MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        if (own_rank == 1) {
            OK(PMPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQUAL(value, i);
        }
    }
    CHECK_EQUAL(MPI_Pcontrol(0), own_rank == 0 ? 3 : 0);
    OK(MPI_Finalize());
    return 0;
}
