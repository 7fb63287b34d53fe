/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Point-to-point measurements, one source for dlrt and for MPI (MESSAGING_HEADER names the shim).
 * Prints a line "test size value" per result, in the unit that the test's comment says. Buffers are
 * reused, as in most programs' inner loops; every received message of the latency test is checked
 * at its first and last byte.
 *
 * Usage: point_to_point TEST   (latency | bandwidth | rate | ring | matching | start | shared)
 */
#define _POSIX_C_SOURCE 200809L
#include MESSAGING_HEADER

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { window = 64, size_max = 4 << 20, tag = 7 };

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static unsigned char* buffer_of(size_t size_bytes) {
    void* memory = NULL;
    if (posix_memalign(&memory, 4096, size_bytes) != 0) exit(1);
    memset(memory, 1, size_bytes);
    return memory;
}

static int rounds_for(size_t size_bytes, double budget_bytes, int most) {
    const double rounds = budget_bytes / (double)(size_bytes + 512);
    return rounds > most ? most : rounds < 8 ? 8 : (int)rounds;
}

/* Half round trip in microseconds, the best of several batches. */
static double half_round_trip_us(
    unsigned char* out, unsigned char* in, size_t size_bytes, int rounds, int batches
) {
    const int rank = msg_rank();
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = now_us();
        for (int round = 0; round < rounds; ++round) {
            out[0] = out[size_bytes - 1] = (unsigned char)round;
            if (rank == 0) {
                msg_send(out, size_bytes, 1, tag);
                msg_recv(in, size_bytes, 1, tag);
            } else {
                msg_recv(in, size_bytes, 0, tag);
                msg_send(out, size_bytes, 0, tag);
            }
            if (in[0] != (unsigned char)round || in[size_bytes - 1] != (unsigned char)round) {
                fprintf(stderr, "wrong data at size %zu, round %d\n", size_bytes, round);
                exit(1);
            }
        }
        const double half = (now_us() - start) / rounds / 2;
        if (half < best) best = half;
    }
    return best;
}

static void latency(void) {
    unsigned char *out = buffer_of(size_max), *in = buffer_of(size_max);
    for (size_t size_bytes = 8; size_bytes <= size_max; size_bytes *= 2) {
        const double half = half_round_trip_us(
            out, in, size_bytes, rounds_for(size_bytes, 24e6, 10000), 5
        );
        if (msg_rank() == 0) printf("latency %zu %.4f\n", size_bytes, half);
    }
    free(out);
    free(in);
}

/* The 8-byte half round trip where both ranks have one core between them. A peer that doesn't yield
 * needs 4 ms for a message, others 2 us: as many rounds as take 0.2 s. */
static void shared(void) {
    unsigned char *out = buffer_of(8), *in = buffer_of(8);
    const double trial = half_round_trip_us(out, in, 8, 20, 1);
    int32_t rounds = trial * 2 * 5000 < 0.2e6 ? 5000 : (int32_t)(0.2e6 / (trial * 2)) + 1;
    if (msg_rank() == 0)
        msg_send(&rounds, sizeof rounds, 1, tag);
    else
        msg_recv(&rounds, sizeof rounds, 0, tag);
    const double half = half_round_trip_us(out, in, 8, rounds, 3);
    if (msg_rank() == 0) printf("shared 8 %.4f\n", half);
    free(out);
    free(in);
}

/* MB/s one way with `window` messages in flight; the receiver answers each window with one byte. */
static double windowed_us(unsigned char* memory, size_t size_bytes, int rounds, int batches) {
    const int rank = msg_rank();
    msg_request requests[window];
    double best = 1e30;
    for (int batch = 0; batch < batches; ++batch) {
        msg_barrier();
        const double start = now_us();
        for (int round = 0; round < rounds; ++round) {
            unsigned char answer = 0;
            for (int i = 0; i < window; ++i) {
                unsigned char* place = memory + (size_t)i % (size_max / size_bytes) * size_bytes;
                if (rank == 0)
                    msg_isend(place, size_bytes, 1, tag, &requests[i]);
                else
                    msg_irecv(place, size_bytes, 0, tag, &requests[i]);
            }
            msg_waitall(window, requests);
            if (rank == 0)
                msg_recv(&answer, 1, 1, tag);
            else
                msg_send(&answer, 1, 0, tag);
        }
        const double each = (now_us() - start) / rounds / window;
        if (each < best) best = each;
    }
    return best;
}

static void bandwidth(void) {
    unsigned char* memory = buffer_of(size_max);
    for (size_t size_bytes = 1; size_bytes <= size_max; size_bytes *= 4) {
        const double each = windowed_us(
            memory, size_bytes, rounds_for(size_bytes * window, 200e6, 500), 5
        );
        if (msg_rank() == 0) printf("bandwidth %zu %.2f\n", size_bytes, (double)size_bytes / each);
    }
    free(memory);
}

/* Million messages of 8 bytes per second, one pair. */
static void rate(void) {
    unsigned char* memory = buffer_of(size_max);
    const double each = windowed_us(memory, 8, 2000, 10);
    if (msg_rank() == 0) printf("rate 8 %.3f\n", 1 / each);
    free(memory);
}

/* Microseconds per hop of an 8-byte token round all ranks. */
static void ring(void) {
    const int rank = msg_rank(), size = msg_size(), rounds = 300;
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    uint64_t token = 0;
    double best = 1e30;
    for (int batch = 0; batch < 5; ++batch) {
        msg_barrier();
        const double start = now_us();
        for (int round = 0; round < rounds; ++round) {
            if (rank == 0) {
                msg_send(&token, sizeof token, next, tag);
                msg_recv(&token, sizeof token, previous, tag);
            } else {
                msg_recv(&token, sizeof token, previous, tag);
                ++token;
                msg_send(&token, sizeof token, next, tag);
            }
        }
        const double hop = (now_us() - start) / rounds / size;
        if (hop < best) best = hop;
    }
    if (rank == 0) printf("ring %d %.3f\n", size, best);
}

/* Nanoseconds per message when so many receives are posted, each with its own tag; messages come in
 * an order that is not the posting order. */
static void matching(void) {
    static const int depths[] = {10, 100, 1000, 10000};
    static unsigned char place[10000];
    msg_request* requests = calloc(10000, sizeof *requests);
    for (size_t d = 0; d < sizeof depths / sizeof depths[0]; ++d) {
        const int depth = depths[d], rounds = 40000 / depth;
        double best = 1e30;
        for (int batch = 0; batch < 3; ++batch) {
            double spent = 0;
            for (int round = 0; round < rounds; ++round) {
                if (msg_rank() == 1) {
                    for (int i = 0; i < depth; ++i) msg_irecv(&place[i], 1, 0, i, &requests[i]);
                }
                msg_barrier();
                const double start = now_us();
                if (msg_rank() == 0) {
                    for (int i = 0; i < depth; ++i)
                        msg_isend(&place[i], 1, 1, (i * 7 + 3) % depth, &requests[i]);
                }
                msg_waitall(depth, requests);
                spent += now_us() - start;
                msg_barrier();
            }
            const double each = spent * 1e3 / rounds / depth;
            if (each < best) best = each;
        }
        if (msg_rank() == 1) printf("matching %d %.1f\n", depth, best);
    }
    free(requests);
}

int main(int argc, char** argv) {
    const char* test = argc == 2 ? argv[1] : "";
    msg_init();
    if (strcmp(test, "latency") == 0)
        latency();
    else if (strcmp(test, "shared") == 0)
        shared();
    else if (strcmp(test, "bandwidth") == 0)
        bandwidth();
    else if (strcmp(test, "rate") == 0)
        rate();
    else if (strcmp(test, "ring") == 0)
        ring();
    else if (strcmp(test, "matching") == 0)
        matching();
    else if (strcmp(test, "start") == 0)
        msg_barrier();
    else if (msg_rank() == 0)
        fprintf(stderr, "tests: latency bandwidth rate ring matching start shared\n");
    msg_finalize();
    return 0;
}
