/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that says when it has come to a point of a job's life, and stays there until it is let go.
 * usage: phase_rank running|collective|told|ending GO FAIL
 * GO and FAIL are FIFOs: opening one for reading blocks until the test opens it for writing.
 *   running      all ranks wait for GO
 *   collective   rank 0 waits for GO, the others for rank 0 in a barrier
 *   told         as running, but all say "told RANK PID" when they get a TERM, and wait on
 *   ending       as told, but rank 0 waits for FAIL and exits with 3
 * Each says "PHASE RANK PID" when it is there. */
#include <dlrt.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char told[64];

static void say_told(int number) {
    (void)number;
    if (write(1, told, strlen(told)) < 0) _exit(20);
}

static void wait_for(const char* fifo) {
    int descriptor = -1;
    do {
        descriptor = open(fifo, O_RDONLY);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) _exit(21);
}

static void say(const char* phase, const char* rank) {
    printf("%s %s %d\n", phase, rank, (int)getpid());
    fflush(stdout);
}

int main(int count, char** arguments) {
    const char* rank = getenv("DLRT_RANK");
    if (count < 4 || rank == NULL) return 64;
    const char* phase = arguments[1];
    const int is_first = strcmp(rank, "0") == 0;
    if (strcmp(phase, "collective") == 0) {
        if (dlrt_init() != DLRT_OK) return 16;
        say(phase, rank);
        if (is_first) wait_for(arguments[2]);
        if (dlrt_barrier(DLRT_COMM_WORLD) != DLRT_OK) return 17;
        return dlrt_finalize() == DLRT_OK ? 0 : 17;
    }
    const int fails = strcmp(phase, "ending") == 0 && is_first;
    if (strcmp(phase, "running") != 0 && !fails) {
        struct sigaction action = {0};
        snprintf(told, sizeof told, "told %s %d\n", rank, (int)getpid());
        action.sa_handler = say_told;
        sigaction(SIGTERM, &action, NULL);
    }
    say(phase, rank);
    if (fails) {
        wait_for(arguments[3]);
        return 3;
    }
    wait_for(arguments[2]);
    return 0;
}
