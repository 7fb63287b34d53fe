/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways in which programs begin and end, right and wrong; ends.py says what must become of each.
 * usage: ends WAY
 */
#include <signal.h>
#include <unistd.h>

#include "check.h"

static void finish_at_exit(void) {
    int flag = 1;
    MPI_Finalized(&flag);
    if (!flag) MPI_Finalize();
}

static void wait_for(int rank) {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_ever(void) {
    wait_for(MPI_ANY_SOURCE);
}

/* Far beyond every limit of the test, without a call of MPI. */
static void compute_for_ever(void) {
    for (volatile unsigned long i = 0;; ++i) {}
}

static int is(const char* way, const char* name) {
    return strcmp(way, name) == 0;
}

/* Before MPI_Init is called, or in calls around it. */
static void begin(const char* way) {
    int provided = -1, flag = 0;
    if (is(way, "send-before-init")) MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (is(way, "abort-before-init") && getenv("DLRT_RANK")[0] != '0') compute_for_ever();
    if (is(way, "init-thread")) {
        OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided));
        CHECK(provided >= MPI_THREAD_SERIALIZED);
        OK(MPI_Query_thread(&flag));
        CHECK_EQUAL(flag, provided);
        OK(MPI_Comm_rank(MPI_COMM_WORLD, &own_rank));
        return;
    }
    start_mpi();
    OK(MPI_Query_thread(&provided));
    CHECK(provided >= MPI_THREAD_SINGLE);
    if (is(way, "init-twice")) MPI_Init(NULL, NULL);
    if (is(way, "init-thread-twice")) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided);
    }
}

static void end_early(const char* way) {
    if (is(way, "exit-all") || (strncmp(way, "exit-0", 6) == 0 && own_rank == 1)) exit(0);
    if (is(way, "exit-0-awaited")) wait_for(1);
    if (is(way, "exit-0-gathered")) MPI_Barrier(MPI_COMM_WORLD);
    if (is(way, "exit-5") && own_rank == 1) _exit(5);
    if (is(way, "signal") && own_rank == 1) raise(SIGKILL);
    if (is(way, "exit-5") || is(way, "signal")) wait_for_ever();
    if (strncmp(way, "abort", 5) != 0) return;
    if (own_rank == 0) {
        printf("said before\n");
        fflush(stdout);
        MPI_Abort(is(way, "abort-self") ? MPI_COMM_SELF : MPI_COMM_WORLD, atoi(getenv("CODE")));
    }
    if (is(way, "abort-stopped")) raise(SIGSTOP);
    if (is(way, "abort-busy")) compute_for_ever();
    wait_for_ever();
}

int main(int argc, char** argv) {
    const char* const way = argc > 1 ? argv[1] : "";
    begin(way);
    end_early(way);
    if (is(way, "at-exit")) {
        atexit(finish_at_exit);
        return own_rank == 1 ? 3 : 0;
    }
    OK(MPI_Finalize());
    int flag = 0;
    OK(MPI_Finalized(&flag));
    CHECK(flag);
    if (is(way, "init-after-finalize")) MPI_Init(NULL, NULL);
    if (is(way, "finalize-twice")) MPI_Finalize();
    if (is(way, "send-after-finalize")) MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    printf("rank %d goes on\n", own_rank);
    if (is(way, "status-3")) return own_rank == 1 ? 3 : 0;
    return 0;
}
