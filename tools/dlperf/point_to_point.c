/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements between pairs of ranks. Latency is half a round trip. Bandwidth and rate keep a
 * window of messages in flight, which the receiver answers with one byte. */
#include <stdlib.h>

static const double batch_budget_us = 200e3;

#include "tests.h"

/* The first and the last byte are checked in every round. */
static double half_round_trip_us(
    struct perf_buffer* out, struct perf_buffer* in, int rounds, int batches
) {
    const size_t size_bytes = out->size_bytes;
    const int rank = msg_rank(), peer = 1 - rank;
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = perf_now_us();
        for (int round = 0; round < rounds; ++round) {
            unsigned char *sent = perf_place(out), *received = perf_place(in);
            sent[0] = sent[size_bytes - 1] = (unsigned char)round;
            if (rank == 0) {
                msg_send(sent, size_bytes, peer, perf_tag);
                msg_recv(received, size_bytes, peer, perf_tag);
            } else {
                msg_recv(received, size_bytes, peer, perf_tag);
                msg_send(sent, size_bytes, peer, perf_tag);
            }
            const unsigned char expected = (unsigned char)round;
            if (received[0] != expected || received[size_bytes - 1] != expected) {
                perf_wrong_data("latency");
            }
        }
        const double half = (perf_now_us() - start) / rounds / 2;
        if (half < best) best = half;
    }
    return best;
}

static void validate_exchange(struct perf_buffer* out, struct perf_buffer* in, size_t size_bytes) {
    const int rank = msg_rank(), peer = 1 - rank;
    if (!perf_options.is_validated) return;
    for (unsigned round = 0; round < 4; ++round) {
        unsigned char *sent = perf_place(out), *received = perf_place(in);
        perf_fill(sent, size_bytes, round * 2 + (unsigned)rank);
        msg_request requests[2];
        msg_irecv(received, size_bytes, peer, perf_tag, &requests[0]);
        msg_isend(sent, size_bytes, peer, perf_tag, &requests[1]);
        msg_waitall(2, requests);
        perf_expect(received, size_bytes, round * 2 + (unsigned)peer);
    }
}

void perf_latency(void) {
    PERF_FOR_SIZES(size_bytes) {
        struct perf_buffer out = perf_buffer(size_bytes), in = perf_buffer(size_bytes);
        validate_exchange(&out, &in, size_bytes);
        const double trial_us = 2 * half_round_trip_us(&out, &in, 10, 1);
        const int wanted = perf_rounds(size_bytes, 24e6, 10000);
        const int rounds = perf_agreed_rounds(wanted, trial_us, batch_budget_us);
        const double half_us = half_round_trip_us(&out, &in, rounds, perf_options.batch_count);
        perf_report("latency", size_bytes, half_us, "us");
        perf_free(&out);
        perf_free(&in);
    }
}

enum direction { one_way, both_ways };

/* Microseconds for a message of a window; the peer is the rank half the job away. */
static double windowed_us(size_t size_bytes, int rounds, int batches, enum direction direction) {
    const int rank = msg_rank(), half = msg_size() / 2, window = perf_options.window;
    const bool is_lower = rank < half;
    const int peer = is_lower ? rank + half : rank - half;
    struct perf_buffer out = perf_buffer(size_bytes), in = perf_buffer(size_bytes);
    msg_request* requests = malloc(2 * (size_t)window * sizeof *requests);
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = perf_now_us();
        for (int round = 0; round < rounds; ++round) {
            unsigned char answer = 0;
            int count = 0;
            for (int i = 0; i < window; ++i) {
                if (!is_lower || direction == both_ways)
                    msg_irecv(perf_place(&in), size_bytes, peer, perf_tag, &requests[count++]);
                if (is_lower || direction == both_ways)
                    msg_isend(perf_place(&out), size_bytes, peer, perf_tag, &requests[count++]);
            }
            msg_waitall(count, requests);
            if (is_lower)
                msg_recv(&answer, 1, peer, perf_tag);
            else
                msg_send(&answer, 1, peer, perf_tag);
        }
        const double each = (perf_now_us() - start) / rounds / window;
        if (each < best) best = each;
    }
    free(requests);
    perf_free(&out);
    perf_free(&in);
    return best;
}

/* The bytes of a window from each side, with a seed for each message. */
static void validate_window(size_t size_bytes) {
    const int rank = msg_rank(), half = msg_size() / 2, window = perf_options.window;
    const int peer = rank < half ? rank + half : rank - half;
    if (!perf_options.is_validated) return;
    unsigned char* out = perf_memory(size_bytes * (size_t)window);
    unsigned char* in = perf_memory(size_bytes * (size_t)window);
    msg_request* requests = malloc(2 * (size_t)window * sizeof *requests);
    for (int i = 0; i < window; ++i) {
        const size_t place = (size_t)i * size_bytes;
        perf_fill(out + place, size_bytes, (unsigned)(rank + i));
        msg_irecv(in + place, size_bytes, peer, perf_tag, &requests[2 * i]);
        msg_isend(out + place, size_bytes, peer, perf_tag, &requests[2 * i + 1]);
    }
    msg_waitall(2 * window, requests);
    for (int i = 0; i < window; ++i) {
        perf_expect(in + (size_t)i * size_bytes, size_bytes, (unsigned)(peer + i));
    }
    free(requests);
    free(out);
    free(in);
}

static double best_windowed_us(size_t size_bytes, int most, enum direction direction) {
    validate_window(size_bytes);
    const double trial_us = windowed_us(size_bytes, 2, 1, direction) * (double)perf_options.window;
    const int wanted = perf_rounds(size_bytes * (size_t)perf_options.window, 200e6, most);
    const int rounds = perf_agreed_rounds(wanted, trial_us, batch_budget_us);
    return windowed_us(size_bytes, rounds, perf_options.batch_count, direction);
}

void perf_bandwidth(void) {
    PERF_FOR_SIZES(size_bytes) {
        const double each = best_windowed_us(size_bytes, 500, one_way);
        perf_report("bandwidth", size_bytes, (double)size_bytes / each, "MB/s");
    }
}

void perf_both_ways(void) {
    PERF_FOR_SIZES(size_bytes) {
        const double each = best_windowed_us(size_bytes, 500, both_ways);
        perf_report("both_ways", size_bytes, 2 * (double)size_bytes / each, "MB/s");
    }
}

/* Of all pairs together: rank i and rank i + size/2. */
void perf_rate(void) {
    const int pairs = msg_size() / 2;
    const double each = best_windowed_us(8, 2000 / pairs + 8, one_way);
    perf_report("rate", 8, pairs / each, "M/s");
}

static double ring_round_us(int rounds, int batches) {
    const int rank = msg_rank(), size = msg_size();
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    uint64_t token = 0, expected = 0;
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = perf_now_us();
        for (int round = 0; round < rounds; ++round) {
            if (rank == 0) msg_send(&token, sizeof token, next, perf_tag);
            msg_recv(&token, sizeof token, previous, perf_tag);
            expected += (uint64_t)size - 1;
            if (rank == 0) continue;
            ++token;
            msg_send(&token, sizeof token, next, perf_tag);
        }
        const double each = (perf_now_us() - start) / rounds;
        if (each < best) best = each;
    }
    if (rank == 0 && token != expected) perf_wrong_data("ring");
    return best;
}

void perf_ring(void) {
    const int rounds = perf_agreed_rounds(300, ring_round_us(3, 1), 2 * batch_budget_us);
    const double hop_us = ring_round_us(rounds, perf_options.batch_count) / msg_size();
    perf_report("ring", (size_t)msg_size(), hop_us, "us");
}

/* Nanoseconds for a message when so many receives are posted, each with its own tag; messages come
 * in an order that is not the posting order. */
void perf_matching(void) {
    static const int depths[] = {10, 100, 1000, 10000};
    static unsigned char places[10000];
    const int rank = msg_rank();
    msg_request* requests = calloc(10000, sizeof *requests);
    for (size_t d = 0; d < sizeof depths / sizeof depths[0]; ++d) {
        const int depth = depths[d], rounds = 40000 / depth;
        double best = 1e30;
        for (int batch = 0; batch < perf_options.batch_count; ++batch) {
            double spent_us = 0;
            for (int round = 0; round < rounds; ++round) {
                if (rank == 0) {
                    for (int i = 0; i < depth; ++i) msg_irecv(&places[i], 1, 1, i, &requests[i]);
                }
                msg_barrier();
                const double start = perf_now_us();
                for (int i = 0; i < depth && rank == 1; ++i) {
                    msg_isend(&places[i], 1, 0, (i * 7 + 3) % depth, &requests[i]);
                }
                msg_waitall(depth, requests);
                spent_us += perf_now_us() - start;
                msg_barrier();
            }
            const double each = spent_us * 1e3 / rounds / depth;
            if (each < best) best = each;
        }
        perf_report("matching", (size_t)depth, best, "ns");
    }
    free(requests);
}
