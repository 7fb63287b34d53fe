/* SPDX-License-Identifier: Apache-2.0 */
/* A bare TCP socket between two hosts, polled by both ends: the limit that tools/contest/hosts puts
 * beside the libraries. A line for each size, as dlperf --json: half of a round trip in us.
 *
 *   wire listen PORT           answers whoever comes first, until that one goes
 *   wire HOST PORT SIZE...     measures */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { size_bytes_max = 64 << 20, batch_count = 7 };
static const double batch_us = 20000;
static char* buffer;

static _Noreturn void die(const char* what) {
    perror(what);
    exit(1);
}

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int addresses(const char* host, const char* port, struct addrinfo** found) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    if (host == NULL) hints.ai_flags = AI_PASSIVE;
    if (getaddrinfo(host, port, &hints, found) != 0) {
        fprintf(stderr, "wire: no address for port %s\n", port);
        exit(1);
    }
    return socket((*found)->ai_family, SOCK_STREAM, 0);
}

static void make_quick(int end) {
    const int on = 1;
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
}

static int accept_one(const char* port) {
    struct addrinfo* own = NULL;
    const int on = 1, door = addresses(NULL, port, &own);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, own->ai_addr, own->ai_addrlen) != 0 || listen(door, 1) != 0) die("wire: listen");
    puts("listens");
    fflush(stdout);
    const int end = accept(door, NULL, NULL);
    if (end < 0) die("wire: accept");
    close(door);
    freeaddrinfo(own);
    return end;
}

static void put(int end, const char* bytes, size_t size) {
    while (size > 0) {
        const ssize_t sent = send(end, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) die("wire: send");
        if (sent < 0) continue;
        bytes += sent;
        size -= (size_t)sent;
    }
}

/* 0 at the other's end. */
static int get(int end, char* bytes, size_t size) {
    while (size > 0) {
        const ssize_t came = recv(end, bytes, size, 0);
        if (came == 0) return 0;
        if (came < 0 && errno != EAGAIN) die("wire: recv");
        if (came < 0) continue;
        bytes += came;
        size -= (size_t)came;
    }
    return 1;
}

/* Both ends know how much comes next: first the size and the number of rounds, in the clear. */
static void answer(int end) {
    uint64_t order[2];
    while (get(end, (char*)order, sizeof order)) {
        if (order[0] > size_bytes_max) exit(1);
        for (uint64_t i = 0; i < order[1]; ++i) {
            if (!get(end, buffer, order[0])) return;
            put(end, buffer, order[0]);
        }
    }
}

static double half_round_trip_us(int end, size_t size_bytes, uint64_t rounds) {
    const uint64_t order[2] = {size_bytes, rounds};
    put(end, (const char*)order, sizeof order);
    const double begin_us = now_us();
    for (uint64_t i = 0; i < rounds; ++i) {
        put(end, buffer, size_bytes);
        if (!get(end, buffer, size_bytes)) exit(1);
    }
    return (now_us() - begin_us) / (double)rounds / 2;
}

int main(int count, char** words) {
    buffer = calloc(1, size_bytes_max);
    if (count < 3 || buffer == NULL) return 64;
    if (strcmp(words[1], "listen") == 0) {
        const int end = accept_one(words[2]);
        make_quick(end);
        answer(end);
        return 0;
    }
    struct addrinfo* other = NULL;
    const int end = addresses(words[1], words[2], &other);
    if (connect(end, other->ai_addr, other->ai_addrlen) != 0) die("wire: connect");
    freeaddrinfo(other);
    make_quick(end);
    for (int i = 3; i < count; ++i) {
        const size_t size_bytes = (size_t)atol(words[i]);
        if (size_bytes == 0 || size_bytes > size_bytes_max) return 64;
        const double trial_us = half_round_trip_us(end, size_bytes, 10);
        const uint64_t rounds = trial_us * 20 < batch_us ? (uint64_t)(batch_us / trial_us / 2) : 10;
        double best_us = trial_us;
        for (int batch = 0; batch < batch_count; ++batch) {
            const double taken_us = half_round_trip_us(end, size_bytes, rounds);
            if (taken_us < best_us) best_us = taken_us;
        }
        printf("{\"test\": \"latency\", \"size\": %zu, \"value\": %.4g}\n", size_bytes, best_us);
    }
    return 0;
}
