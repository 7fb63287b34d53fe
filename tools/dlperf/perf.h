/* SPDX-License-Identifier: Apache-2.0 */
/* What all measurements of dlperf share: options, clock, buffers, validation, results.
 *
 * A measurement runs in every rank of the job, one after another; only rank 0 reports. Times are
 * the best of several batches, so that a disturbance doesn't count; each batch begins with a
 * barrier. */
#ifndef DLPERF_PERF_H
#define DLPERF_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "messaging.h"

enum { perf_tag = 7, perf_window_max = 4096 };

struct perf_options {
    size_t smallest_bytes, largest_bytes;
    size_t step;       /* from one size to the next, a factor */
    bool has_one_more; /* after each size the one that is a byte longer */
    int batch_count;
    int fewest_ranks, most_ranks; /* of the jobs of `launch` */
    int window;                   /* messages in flight */
    int thread_count;             /* of each rank in the test `threads` */
    double wait_s;                /* of the test `waiting` */
    bool is_rotated;              /* every message from and to another place of a large area */
    bool is_in_heap;              /* buffers are what the library gives for messages */
    bool is_validated;            /* every byte of every message, outside of the times */
    bool is_json;
};
extern struct perf_options perf_options;

struct perf_test {
    const char* name;
    enum { any_ranks, two_ranks, even_ranks } ranks;
    const char* help;
    void (*run)(void);
};
/* Of all files; ended by one without a name. */
extern const struct perf_test perf_tests[];

/* Monotonic, in microseconds. */
double perf_now_us(void);

/* How many rounds make a batch long enough to be measured and not too long for a size. */
int perf_rounds(size_t size_bytes, double budget_bytes, int most);

/* The rounds that all ranks then do: `wanted`, or as many as rank 0 expects to take `budget_us`
 * after a trial in which one took `trial_us`. A library that doesn't yield needs milliseconds for a
 * message where ranks share a cpu. */
int perf_agreed_rounds(int wanted, double trial_us, double budget_us);

/* Page-aligned memory, written to once; ends the program when there is none. */
void* perf_memory(size_t size_bytes);

/* Memory for messages of one size: one place that is used again and again, or places that follow
 * each other in an area larger than most caches. */
struct perf_buffer {
    unsigned char* area;
    size_t size_bytes, place_count, next;
};
struct perf_buffer perf_buffer(size_t size_bytes);
unsigned char* perf_place(struct perf_buffer* buffer);
void perf_free(struct perf_buffer* buffer);

/* Fills with, and checks for, bytes that depend on place and seed; a wrong one ends the job. */
void perf_fill(unsigned char* data, size_t size_bytes, unsigned seed);
void perf_expect(const unsigned char* data, size_t size_bytes, unsigned seed);

/* Ends the job: `test` has received something else than was sent. */
_Noreturn void perf_wrong_data(const char* test);

/* "size" is what the unit is counted against: bytes, ranks, depth. Only rank 0's is printed. */
void perf_report(const char* test, size_t size, double value, const char* unit);

/* The same from a process that is no rank; `measured` takes the library's place. */
void perf_print(
    const char* test, size_t size, double value, const char* unit, const char* measured
);

/* The sum or the largest of one value of each rank, for rank 0. */
double perf_sum(double value);
double perf_largest(double value);

/* The options' sizes. */
size_t perf_size_after(size_t size_bytes);
#define PERF_FOR_SIZES(size_bytes)                        \
    for (size_t size_bytes = perf_options.smallest_bytes; \
         size_bytes <= perf_options.largest_bytes; size_bytes = perf_size_after(size_bytes))

#endif
