/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads: one that waits doesn't stop another, each may wait for a request of its own,
 * pairs of threads talk in communicators of their own, and two threads never get the same message
 * of a matched probe. 2 ranks.
 */
#include <pthread.h>

#include "check.h"

enum { thread_count = 3, rounds = 200 };

static MPI_Comm comms[thread_count];

static void* talk(void* argument) {
    const int number = *(int*)argument, other = 1 - own_rank;
    for (int i = 0; i < rounds; ++i) {
        int out = 1000 * number + i, in = -1;
        if (own_rank == 0) {
            OK(MPI_Send(&out, 1, MPI_INT, other, 0, comms[number]));
            OK(MPI_Recv(&in, 1, MPI_INT, other, 0, comms[number], MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(&in, 1, MPI_INT, other, 0, comms[number], MPI_STATUS_IGNORE));
            OK(MPI_Send(&out, 1, MPI_INT, other, 0, comms[number]));
        }
        CHECK_EQUAL(in, out);
    }
    int sum = 0;
    OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comms[number]));
    CHECK_EQUAL(sum, 2 * number);
    return NULL;
}

static void* receive(void* argument) {
    OK(MPI_Recv(argument, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return NULL;
}

static void* take_messages(void* argument) {
    int* const taken = argument;
    for (int i = 0; i < 50; ++i) {
        int value = -1;
        MPI_Message message;
        OK(MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        OK(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        taken[value] += 1;
    }
    return NULL;
}

struct waiting {
    MPI_Request request;
    int value;
};

/* Each waits for a request of its own, of one communicator. */
static void* wait_for_one(void* argument) {
    struct waiting* const own = argument;
    MPI_Status status;
    OK(MPI_Wait(&own->request, &status));
    CHECK(own->request == MPI_REQUEST_NULL && status.MPI_TAG == own->value);
    return NULL;
}

static void wait_for_requests(void) {
    pthread_t threads[thread_count];
    struct waiting waiting[thread_count];
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < thread_count; ++i) {
            OK(MPI_Irecv(
                &waiting[i].value, 1, MPI_INT, 1 - own_rank, 20 + i, MPI_COMM_WORLD,
                &waiting[i].request
            ));
            pthread_create(&threads[i], NULL, wait_for_one, &waiting[i]);
        }
        for (int tag = 20 + thread_count - 1; tag >= 20; --tag) {
            OK(MPI_Send(&tag, 1, MPI_INT, 1 - own_rank, tag, MPI_COMM_WORLD));
        }
        for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
    }
}

int main(void) {
    int provided = MPI_THREAD_SINGLE, is_main = 0, numbers[thread_count], value = -1;
    pthread_t threads[thread_count];
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &own_rank));
    OK(MPI_Is_thread_main(&is_main));
    CHECK(is_main);
    for (int i = 0; i < thread_count; ++i) {
        numbers[i] = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    }
    for (int i = 0; i < thread_count; ++i) pthread_create(&threads[i], NULL, talk, &numbers[i]);
    for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);

    /* The message that the one thread waits for is sent by the other. */
    pthread_create(&threads[0], NULL, receive, &value);
    OK(MPI_Send(&own_rank, 1, MPI_INT, own_rank, 7, MPI_COMM_WORLD));
    pthread_join(threads[0], NULL);
    CHECK_EQUAL(value, own_rank);

    static int taken[2][100];
    pthread_create(&threads[0], NULL, take_messages, taken[0]);
    pthread_create(&threads[1], NULL, take_messages, taken[1]);
    for (int i = 0; i < 100; ++i) OK(MPI_Send(&i, 1, MPI_INT, 1 - own_rank, 8, MPI_COMM_WORLD));
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    for (int i = 0; i < 100; ++i) CHECK_EQUAL(taken[0][i] + taken[1][i], 1);

    wait_for_requests();

    for (int i = 0; i < thread_count; ++i) OK(MPI_Comm_free(&comms[i]));
    OK(MPI_Finalize());
    return 0;
}
