/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that only lives, for tools/compare/launch and tools/compare/idle.
 * usage: job_life once               init, barrier, finalize
 *        job_life memory             the same; rank 0 prints the mean PSS of all ranks in KiB
 *        job_life recv|wait|barrier|init|finalize|none
 *                                    all but rank 0 wait there for rank 0, which never comes */
#include MESSAGING_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long pss_kib(void) {
    char line[256];
    long kib = -1;
    FILE* file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL) return -1;
    while (kib < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Pss:", 4) == 0) kib = strtol(line + 4, NULL, 10);
    }
    fclose(file);
    return kib;
}

static void show_memory(void) {
    long own = 0;
    long sum = 0;
    msg_barrier();
    sum = own = pss_kib();
    msg_barrier();
    if (msg_rank() != 0) {
        msg_send(&own, sizeof own, 0, 1);
        return;
    }
    for (int rank = 1; rank < msg_size(); ++rank) {
        msg_recv(&own, sizeof own, rank, 1);
        sum += own;
    }
    printf("%.0f\n", (double)sum / msg_size());
}

static void sleep_for_ever(void) {
    while (1) pause();
}

static void wait_in(const char* place) {
    char byte = 0;
    msg_request request;
    if (msg_rank() == 0) sleep_for_ever();
    if (strcmp(place, "recv") == 0) msg_recv(&byte, 1, 0, 0);
    if (strcmp(place, "wait") == 0) {
        msg_irecv(&byte, 1, 0, 0, &request);
        msg_waitall(1, &request);
    }
    if (strcmp(place, "barrier") == 0) msg_barrier();
    if (strcmp(place, "finalize") == 0) msg_finalize();
    sleep_for_ever();
}

int main(int count, char** arguments) {
    const char* what = count > 1 ? arguments[1] : "once";
    const char* rank = getenv("DLRT_RANK") != NULL ? getenv("DLRT_RANK") : getenv("PMI_RANK");
    if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
    if (strcmp(what, "none") == 0) sleep_for_ever();
    if (strcmp(what, "init") == 0 && rank != NULL && strcmp(rank, "0") == 0) sleep_for_ever();
    msg_init();
    if (strcmp(what, "memory") == 0) show_memory();
    if (strcmp(what, "once") != 0 && strcmp(what, "memory") != 0) wait_in(what);
    msg_barrier();
    msg_finalize();
    return 0;
}
