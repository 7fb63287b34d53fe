/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks and the feeder of tools/contest/streams: lines out, bytes in. Uses no message passing.
 *
 *   streams lines N write|stdio   N lines, each with one write(), or through a buffer of stdio
 *   streams feed BYTES            pseudo-random bytes to standard output
 *   streams sum                   reads to the end; prints count and a sum that depends on the
 * order
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { block_bytes = 1 << 16 };

static void die(const char* what) {
    perror(what);
    exit(1);
}

static void write_all(const char* bytes, size_t size) {
    while (size > 0) {
        ssize_t put = write(1, bytes, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) die("write");
        bytes += put;
        size -= (size_t)put;
    }
}

static const char* own_rank(void) {
    static const char* const names[] = {"DLRT_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char* value = getenv(names[i]);
        if (value != NULL) return value;
    }
    return "0";
}

/* "RANK NUMBER xxx…": what the reader can check by itself. */
static void lines(long count, int is_buffered) {
    static const char fill[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    const char* rank = own_rank();
    char line[128];
    for (long i = 0; i < count; ++i) {
        int size = snprintf(line, sizeof line, "%s %ld %.*s\n", rank, i, (int)(i % 60), fill);
        if (is_buffered)
            fwrite(line, 1, (size_t)size, stdout);
        else
            write_all(line, (size_t)size);
    }
    if (fflush(stdout) != 0) die("flush");
}

static uint64_t next_word(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void feed(long long size) {
    static uint64_t block[block_bytes / 8];
    uint64_t state = 88172645463325252u;
    while (size > 0) {
        for (size_t i = 0; i < block_bytes / 8; ++i) block[i] = next_word(&state);
        size_t part = size < block_bytes ? (size_t)size : (size_t)block_bytes;
        write_all((const char*)block, part);
        size -= (long long)part;
    }
}

static void sum(void) {
    static unsigned char block[block_bytes];
    uint64_t total = 0;
    uint64_t count = 0;
    size_t held = 0;
    for (;;) {
        ssize_t got = read(0, block + held, block_bytes - held);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) die("read");
        held += (size_t)got;
        if (got > 0 && held < block_bytes) continue;
        for (size_t i = 0; i + 8 <= held; i += 8) {
            uint64_t word;
            memcpy(&word, block + i, 8);
            total = total * 31 + word;
        }
        for (size_t i = held & ~(size_t)7; i < held; ++i) total = total * 31 + block[i];
        count += held;
        held = 0;
        if (got == 0) break;
    }
    printf("%s %llu %016llx\n", own_rank(), (unsigned long long)count, (unsigned long long)total);
}

int main(int argc, char** argv) {
    if (argc == 4 && strcmp(argv[1], "lines") == 0) {
        lines(atol(argv[2]), strcmp(argv[3], "stdio") == 0);
    } else if (argc == 3 && strcmp(argv[1], "feed") == 0) {
        feed(atoll(argv[2]));
    } else if (argc == 2 && strcmp(argv[1], "sum") == 0) {
        sum();
    } else {
        fprintf(stderr, "usage: streams lines N write|stdio | feed BYTES | sum\n");
        return 2;
    }
    return 0;
}
