/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that only waits, for tools/contest/idle.
 * usage: job_life recv|wait|barrier|init|finalize|none
 * All but rank 0 wait there for rank 0, which never comes. */
#include "tools/dlperf/messaging.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    const char* place = count > 1 ? arguments[1] : "none";
    const char* rank = getenv("DLRT_RANK");
    if (strcmp(place, "none") == 0) sleep_for_ever();
    if (strcmp(place, "init") == 0 && rank != NULL && strcmp(rank, "0") == 0) sleep_for_ever();
    msg_init(0);
    wait_in(place);
    return 0;
}
