/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine can do at best between two processes, without any library: the raw limits that
 * every other figure of dlperf stands beside. Two processes, each on a cpu of its own where there
 * are two; shared memory is one anonymous mapping. */
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "limits_copy.h"
#include "tests.h"

enum { area_bytes = 24 << 20, vector_bytes_max = 4 << 20, line_bytes = 64 };

/* In memory that both processes share. */
struct shared {
    _Alignas(line_bytes) atomic_uint word[2][line_bytes / sizeof(atomic_uint)];
    _Alignas(line_bytes) unsigned char area[area_bytes];
    _Alignas(line_bytes) double result;
};

struct side {
    struct shared* shared;
    int index; /* 0 starts and measures */
    pid_t other;
    int descriptor[2]; /* to read from, to write to */
    size_t size_bytes;
    int rounds;
};

static void report(const char* name, size_t size_bytes, double value, const char* unit) {
    char full_name[64];
    snprintf(full_name, sizeof full_name, perf_options.is_json ? "limit_%s" : "%s", name);
    perf_print(full_name, size_bytes, value, unit, "machine");
}

/* The index-th cpu that this process may use. */
static void stay_on_cpu(int index) {
    cpu_set_t usable, chosen;
    CPU_ZERO(&chosen);
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
    const int count = CPU_COUNT(&usable);
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &usable) || seen++ != index % count) continue;
        CPU_SET(cpu, &chosen);
        sched_setaffinity(0, sizeof chosen, &chosen);
        return;
    }
}

static atomic_uint* own_word(const struct side* side) {
    return &side->shared->word[side->index][0];
}
static atomic_uint* other_word(const struct side* side) {
    return &side->shared->word[1 - side->index][0];
}

/* One hop each way a round; `wait` returns when *word has become `value`. */
static void bounce(struct side* side, void (*wait)(struct side*, unsigned value)) {
    for (unsigned round = 1; round <= (unsigned)side->rounds; ++round) {
        if (side->index == 1) wait(side, round);
        atomic_store_explicit(own_word(side), round, memory_order_release);
        if (side->index == 0) wait(side, round);
    }
}

static void spin(struct side* side, unsigned value) {
    while (atomic_load_explicit(other_word(side), memory_order_acquire) != value) copy_pause();
}
static void yield(struct side* side, unsigned value) {
    while (atomic_load_explicit(other_word(side), memory_order_acquire) != value) sched_yield();
}
static void line_hop(struct side* side) {
    bounce(side, spin);
}
static void yield_switch(struct side* side) {
    bounce(side, yield);
}

/* Both wait asleep: a wake and a sleep for every hop. */
static void futex_hop(struct side* side) {
    for (unsigned round = 1; round <= (unsigned)side->rounds; ++round) {
        for (int turn = 0; turn < 2; ++turn) {
            if (turn == side->index) {
                atomic_store_explicit(own_word(side), round, memory_order_release);
                syscall(SYS_futex, own_word(side), FUTEX_WAKE, 1, NULL, NULL, 0);
                continue;
            }
            while (atomic_load_explicit(other_word(side), memory_order_acquire) != round) {
                syscall(SYS_futex, other_word(side), FUTEX_WAIT, round - 1, NULL, NULL, 0);
            }
        }
    }
}

static void move_all(int descriptor, char* data, size_t size_bytes, int is_write) {
    while (size_bytes > 0) {
        const ssize_t moved = is_write ? send(descriptor, data, size_bytes, MSG_DONTWAIT)
                                       : recv(descriptor, data, size_bytes, MSG_DONTWAIT);
        if (moved < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (moved <= 0) _exit(3);
        data += moved;
        size_bytes -= (size_t)moved;
    }
}

static void socket_hop(struct side* side) {
    static char data[4 << 20];
    for (int round = 0; round < side->rounds; ++round) {
        if (side->index == 0) move_all(side->descriptor[1], data, side->size_bytes, 1);
        move_all(side->descriptor[0], data, side->size_bytes, 0);
        if (side->index == 1) move_all(side->descriptor[1], data, side->size_bytes, 1);
    }
}

static void eventfd_hop(struct side* side) {
    for (int round = 0; round < side->rounds; ++round) {
        uint64_t value = 1;
        if (side->index == 0 && write(side->descriptor[1], &value, sizeof value) < 0) _exit(3);
        if (read(side->descriptor[0], &value, sizeof value) < 0) _exit(3);
        value = 1;
        if (side->index == 1 && write(side->descriptor[1], &value, sizeof value) < 0) _exit(3);
    }
}

/* Copy in, copy out, through an area in two halves, piece by piece, side 0 to side 1 and back. */
static void ring_copy(struct side* side, void (*copy_in)(void*, const void*, size_t)) {
    static unsigned char data[4 << 20];
    const size_t piece_bytes = side->size_bytes < 65536 ? side->size_bytes : 65536;
    const unsigned pieces = (unsigned)(side->size_bytes / piece_bytes);
    unsigned done = 0;
    for (int turn = 0; turn < side->rounds * 2; ++turn) {
        for (unsigned piece = 0; piece < pieces; ++piece) {
            unsigned char* place = side->shared->area + piece % 64 * piece_bytes;
            ++done;
            if (turn % 2 == side->index) {
                copy_in(place, data + piece * piece_bytes, piece_bytes);
                copy_publish();
                atomic_store_explicit(own_word(side), done, memory_order_release);
            } else {
                while (atomic_load_explicit(other_word(side), memory_order_acquire) < done) {
                    copy_pause();
                }
                memcpy(data + piece * piece_bytes, place, piece_bytes);
            }
        }
    }
}
static void plain_copy(void* target, const void* source, size_t size_bytes) {
    memcpy(target, source, size_bytes);
}
static void plain_ring(struct side* side) {
    ring_copy(side, plain_copy);
}
static void streaming_ring(struct side* side) {
    ring_copy(side, copy_streaming);
}

/* An all-reduce as it would be if all buffers lay in memory that both share: each side sums half of
 * the two inputs into its output, and copies the other half out of the other's. There are two
 * outputs in turns, so that nobody waits until his is read. */
static void shared_sum(struct side* side) {
    const size_t half = side->size_bytes / sizeof(float) / 2;
    float* const vectors = (float*)(void*)side->shared->area;
    const size_t stride = vector_bytes_max / sizeof(float);
    const size_t begin = (size_t)side->index * half, others = (size_t)(1 - side->index) * half;
    for (unsigned round = 1; round <= 2 * (unsigned)side->rounds; ++round) {
        float* const outputs = vectors + (2 + 2 * (size_t)(round % 2)) * stride;
        float* const own = outputs + (size_t)side->index * stride;
        const float* const other = outputs + (size_t)(1 - side->index) * stride;
        for (size_t i = begin; i < begin + half; ++i) own[i] = vectors[i] + vectors[stride + i];
        atomic_store_explicit(own_word(side), round, memory_order_release);
        while (atomic_load_explicit(other_word(side), memory_order_acquire) < round) copy_pause();
        memcpy(own + others, other + others, half * sizeof(float));
    }
}

/* Side 0 reads the other's memory by a system call. */
static void cross_memory(struct side* side) {
    static unsigned char data[4 << 20];
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    memset(data, side->index, sizeof data);
    atomic_store_explicit(own_word(side), 1, memory_order_release);
    spin(side, 1);
    for (int round = 0; round < side->rounds * 2 && side->index == 0; ++round) {
        const struct iovec here = {data, side->size_bytes}, there = here;
        if (process_vm_readv(side->other, &here, 1, &there, 1, 0) < 0) _exit(4);
    }
    if (side->index == 0) {
        atomic_store_explicit(own_word(side), 2, memory_order_release);
    } else {
        spin(side, 2);
    }
}

struct pair_test {
    void (*body)(struct side*);
    const int* descriptors; /* side 0's to read and to write, then side 1's; NULL: none */
    size_t size_bytes;
    int rounds;
    enum { two_cpus, one_cpu } placement;
};

static pid_t start_side(
    const struct pair_test* test, struct shared* shared, int index, pid_t other
) {
    const pid_t child = fork();
    if (child != 0) return child;
    struct side side = {shared, index, other, {-1, -1}, test->size_bytes, test->rounds};
    for (int i = 0; i < 2 && test->descriptors != NULL; ++i) {
        side.descriptor[i] = test->descriptors[2 * index + i];
    }
    stay_on_cpu(test->placement == one_cpu ? 0 : index);
    const double start = perf_now_us();
    test->body(&side);
    if (index == 0) shared->result = (perf_now_us() - start) / test->rounds / 2;
    _exit(0);
}

/* Microseconds one way, the best of five; below 0 when it can't be done here. */
static double run_pair(const struct pair_test* test) {
    struct shared* shared = mmap(
        NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0
    );
    if (shared == MAP_FAILED) return -1;
    memset(shared->area, 1, sizeof shared->area);
    double best = 1e30;
    for (int batch = 0; batch < 5 && best > 0; ++batch) {
        memset(shared->word, 0, sizeof shared->word);
        int status[2] = {0, 0};
        const pid_t answering = start_side(test, shared, 1, 0);
        const pid_t measuring = start_side(test, shared, 0, answering);
        waitpid(measuring, &status[0], 0);
        if (status[0] != 0) kill(answering, SIGKILL);
        waitpid(answering, &status[1], 0);
        if (status[0] != 0 || status[1] != 0) best = -1;
        if (best > 0 && shared->result < best) best = shared->result;
    }
    munmap(shared, sizeof *shared);
    return best;
}

static void report_pair(const char* name, const struct pair_test* test) {
    const double value_us = run_pair(test);
    if (value_us < 0)
        fprintf(stderr, "dlperf: limit %s: not allowed or not possible here\n", name);
    else
        report(name, test->size_bytes, value_us, "us");
}

static void measure_copies(void) {
    static const size_t sizes[] = {16384, 262144, 8 << 20, 64 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        unsigned char *source = perf_memory(sizes[s]), *target = perf_memory(sizes[s]);
        const int rounds = perf_rounds(sizes[s], 1e9, 100000);
        double best_us = 1e30;
        for (int batch = 0; batch < 5; ++batch) {
            const double start = perf_now_us();
            for (int round = 0; round < rounds; ++round) {
                source[0] = (unsigned char)round;
                memcpy(target, source, sizes[s]);
                __asm__ volatile("" : : "r"(target) : "memory");
            }
            const double each = (perf_now_us() - start) / rounds;
            if (each < best_us) best_us = each;
        }
        report("memcpy", sizes[s], (double)sizes[s] / best_us, "MB/s");
        free(source);
        free(target);
    }
}

/* Two ends of a TCP connection over loopback. */
static int connect_loopback(int ends[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &length) != 0) {
        return -1;
    }
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(ends[0], (struct sockaddr*)&address, length) != 0) return -1;
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
    for (int i = 0; i < 2; ++i) {
        setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    return ends[1] < 0 ? -1 : 0;
}

static void measure_descriptors(void) {
    const int bells[2] = {eventfd(0, 0), eventfd(0, 0)};
    const int eventfds[4] = {bells[0], bells[1], bells[1], bells[0]};
    report_pair("eventfd", &(struct pair_test){eventfd_hop, eventfds, 8, 5000, two_cpus});
    int ends[2] = {-1, -1};
    if (connect_loopback(ends) != 0) {
        fprintf(stderr, "dlperf: limit tcp: no connection over loopback\n");
        return;
    }
    const int sockets[4] = {ends[0], ends[0], ends[1], ends[1]};
    static const size_t sizes[] = {8, 65536, 1 << 20, 4 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const int rounds = perf_rounds(sizes[s], 50e6, 5000);
        report_pair("tcp", &(struct pair_test){socket_hop, sockets, sizes[s], rounds, two_cpus});
    }
}

int perf_limits(void) {
    static const size_t ring_sizes[] = {64, 1024, 4096, 16384, 65536, 1 << 20, 4 << 20};
    static const size_t cross_sizes[] = {4096, 65536, 1 << 20, 4 << 20};
    report_pair("line_hop", &(struct pair_test){line_hop, NULL, 8, 100000, two_cpus});
    report_pair("yield", &(struct pair_test){yield_switch, NULL, 8, 20000, one_cpu});
    report_pair("futex_same_cpu", &(struct pair_test){futex_hop, NULL, 8, 5000, one_cpu});
    report_pair("futex", &(struct pair_test){futex_hop, NULL, 8, 5000, two_cpus});
    for (size_t s = 0; s < sizeof ring_sizes / sizeof ring_sizes[0]; ++s) {
        struct pair_test test = {plain_ring, NULL, ring_sizes[s], 0, two_cpus};
        test.rounds = perf_rounds(ring_sizes[s], 200e6, 20000);
        report_pair("ring_plain", &test);
        test.body = streaming_ring;
        report_pair("ring_streaming", &test);
    }
    for (size_t s = 0; s < sizeof cross_sizes / sizeof cross_sizes[0]; ++s) {
        struct pair_test test = {cross_memory, NULL, cross_sizes[s], 0, two_cpus};
        test.rounds = perf_rounds(cross_sizes[s], 200e6, 20000);
        report_pair("cross_memory", &test);
    }
    for (size_t bytes = 8; bytes <= vector_bytes_max; bytes *= bytes < 4096 ? 512 : 4) {
        struct pair_test test = {shared_sum, NULL, bytes, 0, two_cpus};
        test.rounds = perf_rounds(bytes, 200e6, 20000);
        report_pair("all_reduce", &test);
    }
    measure_copies();
    measure_descriptors();
    return 0;
}
