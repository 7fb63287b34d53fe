/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements, each by a function that all ranks call. */
#ifndef DLPERF_TESTS_H
#define DLPERF_TESTS_H

#include "perf.h"

/* point_to_point.c */
void perf_latency(void);
void perf_bandwidth(void);
void perf_both_ways(void);
void perf_rate(void);
void perf_ring(void);
void perf_matching(void);

/* threads.c */
void perf_threads(void);

/* waiting.c */
void perf_start(void);
void perf_memory_use(void);
void perf_waiting(void);

/* collectives.c */
void perf_barrier(void);
void perf_begun_barrier(void);
void perf_broadcast(void);
void perf_reduce(void);
void perf_all_reduce(void);
void perf_begun_all_reduce(void);
void perf_reduce_scatter(void);
void perf_scan(void);
void perf_exclusive_scan(void);
void perf_all_gather(void);
void perf_all_gatherv(void);
void perf_gather(void);
void perf_scatter(void);
void perf_all_to_all(void);
void perf_all_to_allv(void);

/* limits.c: needs no library and no second rank. */
int perf_limits(void);

/* launch.c: the words of a launcher, `count` of them; it is no rank itself. */
int perf_launch(int count, char** launcher);

#endif
