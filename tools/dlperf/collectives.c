/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: microseconds of a call as the slowest rank sees it, the best of several batches. The
 * size is that of one rank's share: of its input, of one block, or of the message for a broadcast.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests.h"

static const double batch_budget_us = 200e3;

/* A buffer holds one share or one for each rank. */
enum shares { one_share, all_shares };

struct call {
    enum shares input, output;
    void (*run)(float* input, float* output, size_t count);
    /* What output[i] must be when every rank's input[i] is rank + i % 64. */
    float (*expected)(size_t i, size_t count, int size);
    enum { at_all, at_root, at_all_but_the_first } result;
};

/* The blocks of the forms with counts: `count` elements each, one after the other. */
static struct { msg_count *counts, *displacements; } blocks;

static void make_blocks(size_t count) {
    const size_t size = (size_t)msg_size();
    blocks.counts = perf_memory(size * sizeof *blocks.counts);
    blocks.displacements = perf_memory(size * sizeof *blocks.displacements);
    for (size_t i = 0; i < size; ++i) {
        blocks.counts[i] = (msg_count)count;
        blocks.displacements[i] = (msg_count)(i * count);
    }
}
static void free_blocks(void) {
    free(blocks.counts);
    free(blocks.displacements);
}

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
static void run_begun_all_reduce(float* input, float* output, size_t count) {
    msg_request request;
    msg_begin_all_reduce(input, output, count, &request);
    msg_waitall(1, &request);
}
static void run_reduce_scatter(float* input, float* output, size_t count) {
    msg_reduce_scatter(input, output, count);
}
static void run_scan(float* input, float* output, size_t count) {
    msg_scan(input, output, count);
}
static void run_exclusive_scan(float* input, float* output, size_t count) {
    msg_exclusive_scan(input, output, count);
}
static void run_all_gather(float* input, float* output, size_t count) {
    msg_all_gather(input, output, count);
}
static void run_all_gatherv(float* input, float* output, size_t count) {
    msg_all_gatherv(input, count, output, blocks.counts, blocks.displacements);
}
static void run_gather(float* input, float* output, size_t count) {
    msg_gather(input, output, count, 0);
}
static void run_scatter(float* input, float* output, size_t count) {
    msg_scatter(input, output, count, 0);
}
static void run_all_to_all(float* input, float* output, size_t count) {
    msg_all_to_all(input, output, count);
}
static void run_all_to_allv(float* input, float* output, size_t count) {
    (void)count;
    msg_all_to_allv(input, output, blocks.counts, blocks.displacements);
}

/* The value of rank 0 where i % 64 is `place`, and the sum of the first `ranks` ranks there. */
static float own_value(size_t place) {
    return (float)(place % 64);
}
static float sum_of_first(int ranks, size_t place) {
    return (float)(ranks * (ranks - 1) / 2) + (float)ranks * own_value(place);
}

/* Everybody has the root's. */
static float broadcast_expected(size_t i, size_t count, int size) {
    (void)count, (void)size;
    return own_value(i);
}
static float sum_expected(size_t i, size_t count, int size) {
    (void)count;
    return sum_of_first(size, i);
}
static float scan_expected(size_t i, size_t count, int size) {
    (void)count, (void)size;
    return sum_of_first(msg_rank() + 1, i);
}
static float exclusive_scan_expected(size_t i, size_t count, int size) {
    (void)count, (void)size;
    return sum_of_first(msg_rank(), i);
}
static float reduce_scatter_expected(size_t i, size_t count, int size) {
    return sum_of_first(size, (size_t)msg_rank() * count + i);
}
static float gathered_expected(size_t i, size_t count, int size) {
    (void)size;
    return (float)(i / count) + own_value(i % count);
}
/* The root's input is one run of values. */
static float scattered_expected(size_t i, size_t count, int size) {
    (void)size;
    return own_value((size_t)msg_rank() * count + i);
}
static float all_to_all_expected(size_t i, size_t count, int size) {
    (void)size;
    return (float)(i / count) + own_value((size_t)msg_rank() * count + i % count);
}

static void check(const char* name, const struct call* call, const float* output, size_t count) {
    const int rank = msg_rank(), size = msg_size();
    if (!perf_options.is_validated) return;
    if (call->result == at_root && rank != 0) return;
    if (call->result == at_all_but_the_first && rank == 0) return;
    const size_t total = count * (call->output == all_shares ? (size_t)size : 1);
    for (size_t i = 0; i < total; ++i) {
        const float expected = call->expected(i, count, size);
        if (output[i] == expected) continue;
        fprintf(
            stderr, "dlperf: %s: rank %d: element %zu of %zu is %g instead of %g\n", name, rank, i,
            total, (double)output[i], (double)expected
        );
        exit(1);
    }
}

static double best_us(
    const struct call* call, struct perf_buffer* in, struct perf_buffer* out, int rounds,
    int batches
) {
    const struct perf_buffer* share = call->output == all_shares ? in : out;
    size_t count = share->size_bytes / sizeof(float);
    if (call->input == all_shares && call->output == all_shares) count /= (size_t)msg_size();
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

static void measure(const char* name, const struct call* call) {
    const size_t size = (size_t)msg_size();
    PERF_FOR_SIZES(size_bytes) {
        const size_t count = size_bytes / sizeof(float);
        if (count == 0) continue;
        const size_t share_bytes = count * sizeof(float);
        struct perf_buffer in = perf_buffer(share_bytes * (call->input == all_shares ? size : 1));
        struct perf_buffer out = perf_buffer(share_bytes * (call->output == all_shares ? size : 1));
        float* input = (float*)perf_place(&in);
        float* output = (float*)perf_place(&out);
        for (size_t i = 0; i < in.size_bytes / sizeof(float); ++i) {
            input[i] = (float)((size_t)msg_rank() + i % 64);
        }
        make_blocks(count);
        call->run(input, output, count);
        check(name, call, call->run == run_broadcast ? input : output, count);
        const int rounds = perf_agreed_rounds(
            perf_rounds(size_bytes * size, 24e6, 2000), best_us(call, &in, &out, 3, 1),
            batch_budget_us
        );
        const double value_us = best_us(call, &in, &out, rounds, perf_options.batch_count);
        perf_report(name, size_bytes, value_us, "us");
        free_blocks();
        perf_free(&in);
        perf_free(&out);
    }
}

#define DEFINE_TEST(name, ...)                         \
    void perf_##name(void) {                           \
        static const struct call call = {__VA_ARGS__}; \
        measure(#name, &call);                         \
    }
DEFINE_TEST(broadcast, one_share, one_share, run_broadcast, broadcast_expected, at_all)
DEFINE_TEST(reduce, one_share, one_share, run_reduce, sum_expected, at_root)
DEFINE_TEST(all_reduce, one_share, one_share, run_all_reduce, sum_expected, at_all)
DEFINE_TEST(begun_all_reduce, one_share, one_share, run_begun_all_reduce, sum_expected, at_all)
DEFINE_TEST(
    reduce_scatter, all_shares, one_share, run_reduce_scatter, reduce_scatter_expected, at_all
)
DEFINE_TEST(scan, one_share, one_share, run_scan, scan_expected, at_all)
DEFINE_TEST(
    exclusive_scan, one_share, one_share, run_exclusive_scan, exclusive_scan_expected,
    at_all_but_the_first
)
DEFINE_TEST(all_gather, one_share, all_shares, run_all_gather, gathered_expected, at_all)
DEFINE_TEST(all_gatherv, one_share, all_shares, run_all_gatherv, gathered_expected, at_all)
DEFINE_TEST(gather, one_share, all_shares, run_gather, gathered_expected, at_root)
DEFINE_TEST(scatter, all_shares, one_share, run_scatter, scattered_expected, at_all)
DEFINE_TEST(all_to_all, all_shares, all_shares, run_all_to_all, all_to_all_expected, at_all)
DEFINE_TEST(all_to_allv, all_shares, all_shares, run_all_to_allv, all_to_all_expected, at_all)

static void run_begun_barrier(void) {
    msg_request request;
    msg_begin_barrier(&request);
    msg_waitall(1, &request);
}

static double barrier_us(void (*run)(void), int rounds, int batches) {
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = perf_now_us();
        for (int round = 0; round < rounds; ++round) run();
        const double each = perf_largest((perf_now_us() - start) / rounds);
        if (each < best) best = each;
    }
    return best;
}

static void measure_barrier(const char* name, void (*run)(void)) {
    const int rounds = perf_agreed_rounds(1000, barrier_us(run, 3, 1), 2 * batch_budget_us);
    const double value_us = barrier_us(run, rounds, perf_options.batch_count);
    perf_report(name, (size_t)msg_size(), value_us, "us");
}

void perf_barrier(void) {
    measure_barrier("barrier", msg_barrier);
}
void perf_begun_barrier(void) {
    measure_barrier("begun_barrier", run_begun_barrier);
}
