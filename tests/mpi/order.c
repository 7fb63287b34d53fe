/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of all sizes with one tag don't overtake each other: below and above every limit of a
 * protocol, from blocking and nonblocking sends, into blocking, nonblocking and probed receives,
 * named and by wildcards. 2 ranks; usage: order MESSAGES
 */
#include <stdint.h>

#include "check.h"

enum { longest = 2 << 20, window = 8, tag = 5 };

/* What message i is, the same at both ranks: sizes are spread over all powers of two. */
static uint32_t mixed(uint32_t number) {
    number = (number ^ number >> 16) * 0x45d9f3bU;
    number = (number ^ number >> 16) * 0x45d9f3bU;
    return number ^ number >> 16;
}
static int size_of(int number) {
    const uint32_t value = mixed((uint32_t)number);
    const int power = (int)(value >> 8) % 22;
    return power == 0 ? 0 : 4 + (int)((value >> 13) % (1U << (power - 1)));
}

static void send_all(int messages) {
    static char* rooms[window];
    MPI_Request requests[window];
    for (int i = 0; i < window; ++i) {
        rooms[i] = calloc(longest, 1);
        requests[i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < messages; ++i) {
        const int at = i % window, size = size_of(i);
        OK(MPI_Wait(&requests[at], MPI_STATUS_IGNORE));
        if (size > 0) memcpy(rooms[at], &i, sizeof(i));
        if (size > 4) rooms[at][size - 1] = (char)i;
        switch (mixed((uint32_t)i + 7U) % 4) {
            case 0:
                OK(MPI_Send(rooms[at], size, MPI_BYTE, 1, tag, MPI_COMM_WORLD));
                break;
            case 1:
                OK(MPI_Issend(rooms[at], size, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[at]));
                break;
            default:
                OK(MPI_Isend(rooms[at], size, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[at]));
        }
    }
    OK(MPI_Waitall(window, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < window; ++i) free(rooms[i]);
}

static void check_message(const char* room, int number, const MPI_Status* status) {
    int size = -1, said = number;
    OK(MPI_Get_count(status, MPI_BYTE, &size));
    CHECK_EQUAL(size, size_of(number));
    CHECK(status->MPI_SOURCE == 0 && status->MPI_TAG == tag);
    if (size > 0) memcpy(&said, room, sizeof(said));
    CHECK_EQUAL(said, number);
    if (size > 4) CHECK_EQUAL(room[size - 1], (char)number);
}

/* Receives are posted ahead, or after a probe; each by name or by wildcards. */
static void receive_all(int messages) {
    static char* rooms[window];
    MPI_Request requests[window];
    MPI_Status status;
    for (int i = 0; i < window; ++i) rooms[i] = malloc(longest);
    for (int next = 0; next < messages;) {
        const uint32_t how = mixed((uint32_t)next + 99U);
        const int left = messages - next, ahead = 1 + (int)(how % window);
        const int count = ahead < left ? ahead : left;
        const int source = how >> 8 & 1U ? MPI_ANY_SOURCE : 0;
        const int wanted = how >> 9 & 1U ? MPI_ANY_TAG : tag;
        if ((how >> 10 & 3U) == 0) {
            MPI_Message message;
            OK(MPI_Mprobe(source, wanted, MPI_COMM_WORLD, &message, &status));
            OK(MPI_Mrecv(rooms[0], longest, MPI_BYTE, &message, &status));
            check_message(rooms[0], next++, &status);
            continue;
        }
        for (int i = 0; i < count; ++i) {
            const int is_any = (i + next) % 3 == 0;
            OK(MPI_Irecv(
                rooms[i], longest, MPI_BYTE, is_any ? MPI_ANY_SOURCE : source, wanted,
                MPI_COMM_WORLD, &requests[i]
            ));
        }
        for (int i = 0; i < count; ++i) {
            OK(MPI_Wait(&requests[i], &status));
            check_message(rooms[i], next++, &status);
        }
    }
    for (int i = 0; i < window; ++i) free(rooms[i]);
}

int main(int argc, char** argv) {
    start_mpi();
    CHECK_EQUAL(world_size, 2);
    const int messages = argc > 1 ? atoi(argv[1]) : 2000;
    if (own_rank == 0) {
        send_all(messages);
    } else {
        receive_all(messages);
    }
    OK(MPI_Finalize());
    return 0;
}
