/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: microseconds of a call as the slowest rank sees it, the best of several batches. The
 * size is that of one rank's input, or of the message for a broadcast. */
#include <stdio.h>
#include <stdlib.h>

#include "tests.h"

static const double batch_budget_us = 200e3;

struct call {
    const char* name;
    bool has_large_input, has_large_output; /* p times the size */
    void (*run)(float* input, float* output, size_t count);
    /* What output[i] must be when every rank's input[i] is rank + i % 64. */
    float (*expected)(size_t i, size_t count, int size);
    bool is_at_all; /* else the result stands at the root alone */
};

static void run_broadcast(float* input, float* output, size_t count) {
    (void)output;
    msg_broadcast(input, count, 0);
}
static void run_reduce(float* input, float* output, size_t count) {
    msg_reduce(input, output, count, 0);
}
static void run_all_reduce(float* input, float* output, size_t count) {
    msg_all_reduce(input, output, count);
}
static void run_all_gather(float* input, float* output, size_t count) {
    msg_all_gather(input, output, count);
}
static void run_gather(float* input, float* output, size_t count) {
    msg_gather(input, output, count, 0);
}
static void run_scatter(float* input, float* output, size_t count) {
    msg_scatter(input, output, count, 0);
}

/* Everybody has the root's. */
static float broadcast_expected(size_t i, size_t count, int size) {
    (void)count, (void)size;
    return (float)(i % 64);
}
static float sum_expected(size_t i, size_t count, int size) {
    (void)count;
    return (float)(size * (size - 1) / 2 + size * (int)(i % 64));
}
static float gathered_expected(size_t i, size_t count, int size) {
    (void)size;
    return (float)(i / count + i % count % 64);
}
/* The root's input is one run of values. */
static float scattered_expected(size_t i, size_t count, int size) {
    (void)size;
    return (float)(((size_t)msg_rank() * count + i) % 64);
}

static void check(const struct call* call, const float* output, size_t count) {
    const int rank = msg_rank(), size = msg_size();
    if (!perf_options.is_validated) return;
    if (!call->is_at_all && rank != 0) return;
    const size_t total = count * (call->has_large_output ? (size_t)size : 1);
    for (size_t i = 0; i < total; ++i) {
        const float expected = call->expected(i, count, size);
        if (output[i] == expected) continue;
        fprintf(
            stderr, "dlperf: %s: rank %d: element %zu of %zu is %g instead of %g\n", call->name,
            rank, i, total, (double)output[i], (double)expected
        );
        exit(1);
    }
}

static double best_us(
    const struct call* call, struct perf_buffer* in, struct perf_buffer* out, int rounds,
    int batches
) {
    const size_t count = (call->has_large_output ? in : out)->size_bytes / sizeof(float);
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = perf_now_us();
        for (int round = 0; round < rounds; ++round) {
            call->run((float*)perf_place(in), (float*)perf_place(out), count);
        }
        const double each = perf_largest((perf_now_us() - start) / rounds);
        if (each < best) best = each;
    }
    return best;
}

static void measure(const struct call* call) {
    const size_t size = (size_t)msg_size();
    PERF_FOR_SIZES(size_bytes, 2) {
        const size_t count = size_bytes / sizeof(float);
        if (count == 0) continue;
        struct perf_buffer in = perf_buffer(size_bytes * (call->has_large_input ? size : 1));
        struct perf_buffer out = perf_buffer(size_bytes * (call->has_large_output ? size : 1));
        float* input = (float*)perf_place(&in);
        float* output = (float*)perf_place(&out);
        for (size_t i = 0; i < in.size_bytes / sizeof(float); ++i) {
            input[i] = (float)((size_t)msg_rank() + i % 64);
        }
        call->run(input, output, count);
        check(call, call->run == run_broadcast ? input : output, count);
        const int rounds = perf_agreed_rounds(
            perf_rounds(size_bytes * size, 24e6, 2000), best_us(call, &in, &out, 3, 1),
            batch_budget_us
        );
        const double value_us = best_us(call, &in, &out, rounds, perf_options.batch_count);
        perf_report(call->name, size_bytes, value_us, "us");
        perf_free(&in);
        perf_free(&out);
    }
}

void perf_broadcast(void) {
    measure(&(struct call){"broadcast", false, false, run_broadcast, broadcast_expected, true});
}
void perf_reduce(void) {
    measure(&(struct call){"reduce", false, false, run_reduce, sum_expected, false});
}
void perf_all_reduce(void) {
    measure(&(struct call){"all_reduce", false, false, run_all_reduce, sum_expected, true});
}
void perf_all_gather(void) {
    measure(&(struct call){"all_gather", false, true, run_all_gather, gathered_expected, true});
}
void perf_gather(void) {
    measure(&(struct call){"gather", false, true, run_gather, gathered_expected, false});
}
void perf_scatter(void) {
    measure(&(struct call){"scatter", true, false, run_scatter, scattered_expected, true});
}

static double barrier_us(int rounds, int batches) {
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = perf_now_us();
        for (int round = 0; round < rounds; ++round) msg_barrier();
        const double each = perf_largest((perf_now_us() - start) / rounds);
        if (each < best) best = each;
    }
    return best;
}

void perf_barrier(void) {
    const int rounds = perf_agreed_rounds(1000, barrier_us(3, 1), 2 * batch_budget_us);
    perf_report("barrier", (size_t)msg_size(), barrier_us(rounds, perf_options.batch_count), "us");
}
