/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that misbehaves on request, for care_test.py. usage: care_rank STEP WHO
 * Rank WHO does STEP; the others wait for it in a barrier. Those who get an error exit with 17. */
#include <dlrt.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void finalize_at_exit(void) {
    dlrt_finalize();
}

static int misbehave(const char* step) {
    if (strcmp(step, "exit") == 0) _exit(3);
    if (strcmp(step, "leave") == 0) _exit(0);
    if (strcmp(step, "crash") == 0) raise(SIGSEGV);
    if (strcmp(step, "abort") == 0) dlrt_abort(42, "cannot go on");
    if (strcmp(step, "sleep") == 0) sleep(300);
    return 18;
}

int main(int count, char** arguments) {
    int32_t rank = -1;
    if (count < 3) return 64;
    const int who = atoi(arguments[2]);
    if (strcmp(arguments[1], "early") == 0 && atoi(getenv("DLRT_RANK")) == who) return 5;
    if (dlrt_init() != DLRT_OK) return 16;
    if (dlrt_comm_rank(DLRT_COMM_WORLD, &rank) != DLRT_OK) return 16;
    if (strcmp(arguments[1], "exits") == 0) {
        atexit(finalize_at_exit);
        return 7;
    }
    if (rank == who) return misbehave(arguments[1]);
    puts("waits");
    fflush(stdout);
    if (dlrt_barrier(DLRT_COMM_WORLD) != DLRT_OK) return 17;
    return dlrt_finalize() == DLRT_OK ? 0 : 17;
}
