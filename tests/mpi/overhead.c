/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of mpi.h costs over the same one of dlrt.h: both in one process, interleaved, the
 * minimum over rounds. Messages go to the rank itself, collectives over all. Prints nanoseconds;
 * fails beyond ten times what they should be. Run by two ranks. */
#include <dlrt.h>

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { calls_per_round = 1000, round_count = 400 };
static const double limit_ns = 50;

static double out = 1, in;

static void send_recv_mpi(void) {
    MPI_Send(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF);
    MPI_Recv(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static void send_recv_dlrt(void) {
    dlrt_send(&out, 1, DLRT_DOUBLE, 0, 1, DLRT_COMM_SELF);
    dlrt_recv(&in, 1, DLRT_DOUBLE, 0, 1, DLRT_COMM_SELF, NULL);
}
static void sendrecv_mpi(void) {
    MPI_Sendrecv(
        &out, 1, MPI_DOUBLE, 0, 1, &in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE
    );
}
static void sendrecv_dlrt(void) {
    dlrt_sendrecv(&out, 1, DLRT_DOUBLE, 0, 1, &in, 1, DLRT_DOUBLE, 0, 1, DLRT_COMM_SELF, NULL);
}

static int rank;

static void wait_mpi(void) {
    MPI_Request send, receive;
    MPI_Isend(&out, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &send);
    MPI_Irecv(&in, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &receive);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
}
static void wait_dlrt(void) {
    dlrt_request send, receive;
    dlrt_isend(&out, 1, DLRT_DOUBLE, rank, 1, DLRT_COMM_WORLD, &send);
    dlrt_irecv(&in, 1, DLRT_DOUBLE, rank, 1, DLRT_COMM_WORLD, &receive);
    dlrt_wait(&send, NULL);
    dlrt_wait(&receive, NULL);
}
static void test_mpi(void) {
    int flag = 0;
    MPI_Request send, receive;
    MPI_Isend(&out, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &send);
    MPI_Irecv(&in, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &receive);
    MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
    for (flag = 0; flag == 0;) MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
}
static void test_dlrt(void) {
    int flag = 0;
    dlrt_request send, receive;
    dlrt_isend(&out, 1, DLRT_DOUBLE, rank, 1, DLRT_COMM_WORLD, &send);
    dlrt_irecv(&in, 1, DLRT_DOUBLE, rank, 1, DLRT_COMM_WORLD, &receive);
    dlrt_test(&send, &flag, NULL);
    for (flag = 0; flag == 0;) dlrt_test(&receive, &flag, NULL);
}
static void waitall_mpi(void) {
    MPI_Request requests[2];
    MPI_Isend(&out, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, requests);
    MPI_Irecv(&in, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void waitall_dlrt(void) {
    dlrt_request requests[2];
    dlrt_isend(&out, 1, DLRT_DOUBLE, rank, 1, DLRT_COMM_WORLD, requests);
    dlrt_irecv(&in, 1, DLRT_DOUBLE, rank, 1, DLRT_COMM_WORLD, requests + 1);
    dlrt_waitall(2, requests, NULL);
}
static void barrier_mpi(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}
static void barrier_dlrt(void) {
    dlrt_barrier(DLRT_COMM_WORLD);
}
static void all_reduce_mpi(void) {
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void all_reduce_dlrt(void) {
    dlrt_allreduce(&out, &in, 1, DLRT_DOUBLE, DLRT_SUM, DLRT_COMM_WORLD);
}
static void all_gather_mpi(void) {
    double all[2];
    MPI_Allgather(&out, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void all_gather_dlrt(void) {
    double all[2];
    dlrt_allgather(&out, 1, DLRT_DOUBLE, all, DLRT_COMM_WORLD);
}
static void broadcast_mpi(void) {
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void broadcast_dlrt(void) {
    dlrt_bcast(&in, 1, DLRT_DOUBLE, 0, DLRT_COMM_WORLD);
}

static const struct {
    const char* name;
    int call_count;
    void (*over_mpi)(void);
    void (*over_dlrt)(void);
} pairs[] = {
    {"send, recv", 2, send_recv_mpi, send_recv_dlrt},
    {"sendrecv", 1, sendrecv_mpi, sendrecv_dlrt},
    {"isend, irecv, wait, wait", 4, wait_mpi, wait_dlrt},
    {"isend, irecv, test, test", 4, test_mpi, test_dlrt},
    {"isend, irecv, waitall", 3, waitall_mpi, waitall_dlrt},
    {"barrier", 1, barrier_mpi, barrier_dlrt},
    {"all-reduce", 1, all_reduce_mpi, all_reduce_dlrt},
    {"all-gather", 1, all_gather_mpi, all_gather_dlrt},
    {"broadcast", 1, broadcast_mpi, broadcast_dlrt},
};

static double time_round(void (*function)(void)) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < calls_per_round; ++i) function();
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
           calls_per_round;
}

int main(int argc, char** argv) {
    dlrt_init();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int failures = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        double mpi_ns = 1e9, dlrt_ns = 1e9;
        for (int round = 0; round < round_count; ++round) {
            const double first = time_round(pairs[i].over_dlrt);
            const double second = time_round(pairs[i].over_mpi);
            if (first < dlrt_ns) dlrt_ns = first;
            if (second < mpi_ns) mpi_ns = second;
        }
        const double more_ns = (mpi_ns - dlrt_ns) / pairs[i].call_count;
        if (more_ns > limit_ns) ++failures;
        if (rank != 0) continue;
        printf(
            "%s: dlrt.h %.1f ns, mpi.h %.1f ns, %.1f ns more per call\n", pairs[i].name, dlrt_ns,
            mpi_ns, more_ns
        );
    }
    MPI_Finalize();
    dlrt_finalize();
    return failures != 0;
}
