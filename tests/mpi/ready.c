/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that lie ready are received by a single test, however many there are: programs drop
 * requests of such receives after it. 1 rank.
 */
#include "check.h"

enum { message_count = 5 };

int main(void) {
    start_mpi();
    CHECK_EQUAL(world_size, 1);
    int out[message_count], in[message_count], flag = 0;
    MPI_Request sends[message_count], receives[message_count];
    MPI_Message messages[message_count];
    for (int i = 0; i < message_count; ++i) {
        out[i] = 100 + i;
        in[i] = -1;
        OK(MPI_Issend(&out[i], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &sends[i]));
    }
    for (int i = 0; i < message_count; ++i) {
        OK(MPI_Mprobe(0, 7, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < message_count; ++i) {
        OK(MPI_Imrecv(&in[i], 1, MPI_INT, &messages[i], &receives[i]));
    }
    OK(MPI_Testall(message_count, receives, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    for (int i = 0; i < message_count; ++i) CHECK_EQUAL(in[i], 100 + i);
    OK(MPI_Waitall(message_count, sends, MPI_STATUSES_IGNORE));
    OK(MPI_Finalize());
    return 0;
}
