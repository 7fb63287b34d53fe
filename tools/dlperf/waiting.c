/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks cost that do nothing: starting, memory, cpu time and wake-ups while they wait. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests.h"

/* A rank that has joined, met all others and leaves: timed from outside. */
void perf_start(void) {
    msg_barrier();
}

/* Kibibytes that the kernel charges to this process, shared pages by share. */
static double memory_kib(void) {
    FILE* file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    double size_kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Pss: %lf", &size_kib) == 1) break;
    }
    if (file != NULL) fclose(file);
    return size_kib;
}

void perf_memory_use(void) {
    const int rank = msg_rank(), size = msg_size();
    double token = 0;
    msg_barrier();
    const double before_kib = memory_kib();
    /* Everybody reads while all others are still there: shared pages count by share. */
    msg_barrier();
    perf_report("memory_joined", (size_t)size, perf_sum(before_kib) / size, "KiB");
    for (int distance = 1; distance < size; ++distance) {
        msg_request requests[2];
        double in = 0;
        msg_irecv(&in, sizeof in, (rank + size - distance) % size, perf_tag, &requests[0]);
        msg_isend(&token, sizeof token, (rank + distance) % size, perf_tag, &requests[1]);
        msg_waitall(2, requests);
    }
    msg_barrier();
    const double after_kib = memory_kib();
    msg_barrier();
    perf_report("memory_connected", (size_t)size, perf_sum(after_kib) / size, "KiB");
}

struct use {
    double cpu_us, wake_ups;
};

static struct use use_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const struct use use = {
        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
        (double)usage.ru_nvcsw};
    return use;
}

/* All ranks but 0 wait for it in `wait_for_rank_0` while it sleeps. */
static void measure_wait(const char* name, void (*wait_for_rank_0)(void), void (*release)(void)) {
    char test[64];
    const double wait_s = perf_options.wait_s;
    msg_barrier();
    const struct use before = use_now();
    if (msg_rank() == 0) {
        struct timespec pause = {(time_t)wait_s, 0};
        pause.tv_nsec = (long)((wait_s - (double)pause.tv_sec) * 1e9);
        nanosleep(&pause, NULL);
        release();
    } else {
        wait_for_rank_0();
    }
    const struct use after = use_now();
    msg_barrier();
    const double cpu_us = msg_rank() == 0 ? 0 : after.cpu_us - before.cpu_us;
    const double wake_ups = msg_rank() == 0 ? 0 : after.wake_ups - before.wake_ups;
    const double cpu_percent = perf_sum(cpu_us) / (wait_s * 1e4);
    const double wake_ups_most = perf_largest(wake_ups) / wait_s;
    snprintf(test, sizeof test, "cpu_%s", name);
    perf_report(test, (size_t)msg_size(), cpu_percent, "%");
    snprintf(test, sizeof test, "wake_ups_%s", name);
    perf_report(test, (size_t)msg_size(), wake_ups_most, "1/s");
}

static void receive_from_rank_0(void) {
    char byte = 0;
    msg_recv(&byte, 1, 0, perf_tag);
}
static void wait_for_request(void) {
    char byte = 0;
    msg_request request;
    msg_irecv(&byte, 1, 0, perf_tag, &request);
    msg_waitall(1, &request);
}
static void send_to_all(void) {
    for (int peer = 1; peer < msg_size(); ++peer) msg_send("", 1, peer, perf_tag);
}

/* Cpu time of all waiting ranks together in percent of one core, and wake-ups of the rank that
 * wakes most. */
void perf_waiting(void) {
    measure_wait("receive", receive_from_rank_0, send_to_all);
    measure_wait("wait", wait_for_request, send_to_all);
    measure_wait("barrier", msg_barrier, msg_barrier);
}
