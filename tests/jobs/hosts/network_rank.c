/* SPDX-License-Identifier: Apache-2.0 */
/* A rank whose messages a test of networks looks at.
 * usage: network_rank sums ROUNDS | until FILE | long MIB ROUNDS | asked MS
 *   sums    all-reduces of one number and of 1 MiB; a wrong sum ends the program with 3
 *   until   the same, until rank 0 finds that file; "there" after the first round
 *   long    ranks 0 and 1 send each other so many MiB at once, and look at each byte
 *   asked   rank 0 sends a number to rank 1, which computes for that time, waits, and sends it back
 * What fails is said on stderr, and ends the program with 4. */
#include <dlrt.h>

#include <dlrt_collective.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { number_count = 1 << 17 };

static int32_t rank, size;

static void check(dlrt_err error, const char* what) {
    if (error == DLRT_OK) return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, dlrt_last_error());
    exit(4);
}

static void expect(int is_right, const char* what) {
    if (is_right) return;
    fprintf(stderr, "rank %d: wrong %s\n", rank, what);
    exit(3);
}

static void sums(int64_t round) {
    static int64_t numbers[number_count], all[number_count];
    const int64_t all_ranks = (int64_t)size * (size - 1) / 2;
    const int64_t own = rank + round;
    int64_t sum = 0;
    check(dlrt_allreduce(&own, &sum, 1, DLRT_INT64, DLRT_SUM, DLRT_COMM_WORLD), "one number");
    expect(sum == all_ranks + size * round, "sum of one number");
    for (int64_t i = 0; i < number_count; ++i) numbers[i] = i * (rank + 1) + round;
    check(
        dlrt_allreduce(numbers, all, number_count, DLRT_INT64, DLRT_SUM, DLRT_COMM_WORLD), "1 MiB"
    );
    for (int64_t i = 0; i < number_count; ++i) {
        expect(all[i] == i * (all_ranks + size) + size * round, "sum of 1 MiB");
    }
}

static int is_over(const char* file) {
    int32_t over = rank == 0 && access(file, F_OK) == 0;
    check(dlrt_bcast(&over, 1, DLRT_INT32, 0, DLRT_COMM_WORLD), "broadcast");
    return over;
}

static unsigned char byte_of(int32_t sender, int round, size_t place) {
    return (unsigned char)(place * 7 + place / 4099 + (size_t)sender * 31 + (size_t)round);
}

static void exchange(size_t mib, int round) {
    const size_t bytes = mib << 20;
    unsigned char *out = malloc(bytes), *in = calloc(1, bytes);
    expect(out != NULL && in != NULL, "size");
    for (size_t i = 0; i < bytes; ++i) out[i] = byte_of(rank, round, i);
    check(
        dlrt_sendrecv(
            out, (int64_t)bytes, DLRT_BYTE, 1 - rank, 0, in, (int64_t)bytes, DLRT_BYTE, 1 - rank, 0,
            DLRT_COMM_WORLD, NULL
        ),
        "long messages"
    );
    for (size_t i = 0; i < bytes; ++i) expect(in[i] == byte_of(1 - rank, round, i), "byte");
    free(out);
    free(in);
}

static void compute(long ms) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* Only rank 0 has a reason to connect. */
static void ask(long ms) {
    const int64_t question = 41;
    int64_t answer = 0;
    if (rank == 0) {
        check(dlrt_send(&question, 1, DLRT_INT64, 1, 0, DLRT_COMM_WORLD), "question");
        check(dlrt_recv(&answer, 1, DLRT_INT64, 1, 0, DLRT_COMM_WORLD, NULL), "answer");
        expect(answer == question, "answer");
    } else if (rank == 1) {
        compute(ms);
        check(dlrt_recv(&answer, 1, DLRT_INT64, 0, 0, DLRT_COMM_WORLD, NULL), "question");
        check(dlrt_send(&answer, 1, DLRT_INT64, 0, 0, DLRT_COMM_WORLD), "answer");
    }
}

static void say(const char* what) {
    if (rank == 0) printf("%s\n", what);
    fflush(stdout);
}

int main(int count, char** words) {
    if (count < 3) return 64;
    check(dlrt_init(), "init");
    check(dlrt_comm_rank(DLRT_COMM_WORLD, &rank), "rank");
    check(dlrt_comm_size(DLRT_COMM_WORLD, &size), "size");
    if (strcmp(words[1], "sums") == 0) {
        for (int round = 0; round < atoi(words[2]); ++round) sums(round);
    } else if (strcmp(words[1], "until") == 0) {
        for (int round = 0; !is_over(words[2]); ++round) {
            sums(round);
            if (round == 0) say("there");
        }
    } else if (strcmp(words[1], "long") == 0 && count == 4 && rank < 2) {
        for (int round = 0; round < atoi(words[3]); ++round)
            exchange((size_t)atoi(words[2]), round);
    }
    if (strcmp(words[1], "asked") == 0) ask(atol(words[2]));
    check(dlrt_finalize(), "finalize");
    say("right");
    return 0;
}
