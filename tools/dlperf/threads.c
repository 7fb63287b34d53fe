/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads of two ranks, each pair with a tag of its own: round trips of 8 bytes. */
#include <pthread.h>
#include <stdlib.h>

#include "tests.h"

enum { rounds_of_a_thread = 2000 };

struct worker {
    pthread_t thread;
    int rank, index;
};

static void* exchange(void* argument) {
    const struct worker* worker = argument;
    const int peer = 1 - worker->rank, tag = 100 + worker->index;
    uint64_t out = 0, in = 0;
    for (uint64_t round = 0; round < rounds_of_a_thread; ++round) {
        out = round * 64 + (uint64_t)worker->index;
        if (worker->rank == 0) {
            msg_send(&out, sizeof out, peer, tag);
            msg_recv(&in, sizeof in, peer, tag);
        } else {
            msg_recv(&in, sizeof in, peer, tag);
            msg_send(&out, sizeof out, peer, tag);
        }
        if (in != out) perf_wrong_data("threads");
    }
    return NULL;
}

/* Million messages per second of all threads together. */
void perf_threads(void) {
    const int rank = msg_rank(), count = perf_options.thread_count;
    struct worker* workers = calloc((size_t)count, sizeof *workers);
    double best_us = 1e30;
    for (int batch = 0; batch < perf_options.batch_count; ++batch) {
        msg_barrier();
        const double start = perf_now_us();
        for (int i = 0; i < count; ++i) {
            workers[i] = (struct worker){.rank = rank, .index = i};
            if (pthread_create(&workers[i].thread, NULL, exchange, &workers[i]) != 0) abort();
        }
        for (int i = 0; i < count; ++i) pthread_join(workers[i].thread, NULL);
        const double spent_us = perf_now_us() - start;
        if (spent_us < best_us) best_us = spent_us;
    }
    free(workers);
    perf_report("threads", (size_t)count, 2.0 * rounds_of_a_thread * count / best_us, "M/s");
}
