/* SPDX-License-Identifier: Apache-2.0 */
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct perf_options perf_options = {
    .smallest_bytes = 8,
    .largest_bytes = 4 << 20,
    .step = 2,
    .fewest_ranks = 1,
    .most_ranks = 16,
    .batch_count = 5,
    .window = 64,
    .thread_count = 4,
    .wait_s = 2,
};

double perf_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

size_t perf_size_after(size_t size_bytes) {
    size_t regular = perf_options.smallest_bytes;
    while (regular * perf_options.step <= size_bytes) regular *= perf_options.step;
    const bool is_regular = size_bytes == regular;
    return perf_options.has_one_more && is_regular ? regular + 1 : regular * perf_options.step;
}

int perf_rounds(size_t size_bytes, double budget_bytes, int most) {
    const double rounds = budget_bytes / (double)(size_bytes + 512);
    return rounds > most ? most : rounds < 8 ? 8 : (int)rounds;
}

int perf_agreed_rounds(int wanted, double trial_us, double budget_us) {
    int rounds = wanted;
    if (msg_rank() != 0) {
        msg_recv(&rounds, sizeof rounds, 0, perf_tag);
        return rounds;
    }
    if (trial_us * wanted > budget_us) rounds = (int)(budget_us / trial_us) + 1;
    for (int peer = 1; peer < msg_size(); ++peer) msg_send(&rounds, sizeof rounds, peer, perf_tag);
    return rounds;
}

void* perf_memory(size_t size_bytes) {
    void* memory = NULL;
    if (posix_memalign(&memory, 4096, size_bytes) != 0) {
        fprintf(stderr, "dlperf: no memory for %zu bytes\n", size_bytes);
        exit(1);
    }
    memset(memory, 1, size_bytes);
    return memory;
}

struct perf_buffer perf_buffer(size_t size_bytes) {
    const size_t area_bytes = 64u << 20;
    struct perf_buffer buffer = {NULL, size_bytes, 1, 0};
    if (perf_options.is_rotated && size_bytes < area_bytes / 2) {
        buffer.place_count = area_bytes / size_bytes;
    }
    const size_t all_bytes = size_bytes * buffer.place_count;
    if (perf_options.is_in_heap) {
        buffer.area = msg_alloc(all_bytes);
        memset(buffer.area, 1, all_bytes);
    } else {
        buffer.area = perf_memory(all_bytes);
    }
    return buffer;
}

unsigned char* perf_place(struct perf_buffer* buffer) {
    unsigned char* place = buffer->area + buffer->next * buffer->size_bytes;
    if (++buffer->next == buffer->place_count) buffer->next = 0;
    return place;
}

void perf_free(struct perf_buffer* buffer) {
    if (perf_options.is_in_heap) {
        msg_free(buffer->area);
    } else {
        free(buffer->area);
    }
    buffer->area = NULL;
}

static unsigned char expected_byte(size_t place, unsigned seed) {
    return (unsigned char)(place * 31 + (place >> 8) * 7 + seed * 101 + 13);
}

void perf_fill(unsigned char* data, size_t size_bytes, unsigned seed) {
    for (size_t i = 0; i < size_bytes; ++i) data[i] = expected_byte(i, seed);
}

void perf_expect(const unsigned char* data, size_t size_bytes, unsigned seed) {
    for (size_t i = 0; i < size_bytes; ++i) {
        if (data[i] == expected_byte(i, seed)) continue;
        fprintf(
            stderr, "dlperf: rank %d: byte %zu of %zu is %d instead of %d\n", msg_rank(), i,
            size_bytes, data[i], expected_byte(i, seed)
        );
        exit(1);
    }
}

void perf_wrong_data(const char* test) {
    fprintf(stderr, "dlperf: %s: rank %d received wrong data\n", test, msg_rank());
    exit(1);
}

void perf_report(const char* test, size_t size, double value, const char* unit) {
    if (msg_rank() != 0) return;
    if (perf_options.is_json) {
        printf(
            "{\"test\": \"%s\", \"size\": %zu, \"value\": %.6g, \"unit\": \"%s\", "
            "\"library\": \"%s\", \"ranks\": %d, \"buffers\": \"%s\", \"memory\": \"%s\"}\n",
            test, size, value, unit, MESSAGING_NAME, msg_size(),
            perf_options.is_rotated ? "rotated" : "reused",
            perf_options.is_in_heap ? "heap" : "private"
        );
        fflush(stdout);
    } else {
        perf_print(test, size, value, unit, MESSAGING_NAME);
    }
}

void perf_print(
    const char* test, size_t size, double value, const char* unit, const char* measured
) {
    if (perf_options.is_json) {
        printf(
            "{\"test\": \"%s\", \"size\": %zu, \"value\": %.6g, \"unit\": \"%s\", "
            "\"library\": \"%s\"}\n",
            test, size, value, unit, measured
        );
    } else {
        printf("%-18s %10zu %14.3f %s\n", test, size, value, unit);
    }
    fflush(stdout);
}

double perf_sum(double value) {
    float input = (float)value, sum = 0;
    msg_reduce(&input, &sum, 1, 0);
    return sum;
}

double perf_largest(double value) {
    const int rank = msg_rank(), size = msg_size();
    if (rank != 0) {
        msg_send(&value, sizeof value, 0, perf_tag);
        return value;
    }
    for (int peer = 1; peer < size; ++peer) {
        double other = 0;
        msg_recv(&other, sizeof other, peer, perf_tag);
        if (other > value) value = other;
    }
    return value;
}
