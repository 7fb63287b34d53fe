/* SPDX-License-Identifier: Apache-2.0 */
/* dlperf: measures messages, collectives, waiting and starting, on dlrt or on an MPI library, and
 * this machine's own limits. Run it under the library's launcher: dlrun -np 2 dlperf latency. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests.h"

const struct perf_test perf_tests[] = {
    {"latency", two_ranks, "half round trip by size", perf_latency},
    {"bandwidth", even_ranks, "one way, a window of messages in flight", perf_bandwidth},
    {"both_ways", even_ranks, "the same in both directions at once", perf_both_ways},
    {"rate", even_ranks, "messages of 8 bytes, all pairs together", perf_rate},
    {"ring", any_ranks, "a token of 8 bytes round all ranks, for each hop", perf_ring},
    {"matching", two_ranks, "time of a message by the number of posted receives", perf_matching},
    {"threads", two_ranks, "messages of 8 bytes of several threads together", perf_threads},
    {"start", any_ranks, "nothing but init, barrier and finalize", perf_start},
    {"memory", any_ranks, "memory of a rank, before and after it met all others", perf_memory_use},
    {"waiting", any_ranks, "cpu time and wake-ups of ranks that wait", perf_waiting},
    {"barrier", any_ranks, "", perf_barrier},
    {"begun_barrier", any_ranks, "the nonblocking form and its wait", perf_begun_barrier},
    {"broadcast", any_ranks, "", perf_broadcast},
    {"reduce", any_ranks, "", perf_reduce},
    {"all_reduce", any_ranks, "", perf_all_reduce},
    {"begun_all_reduce", any_ranks, "the nonblocking form and its wait", perf_begun_all_reduce},
    {"reduce_scatter", any_ranks, "equal blocks", perf_reduce_scatter},
    {"scan", any_ranks, "", perf_scan},
    {"exclusive_scan", any_ranks, "", perf_exclusive_scan},
    {"all_gather", any_ranks, "", perf_all_gather},
    {"all_gatherv", any_ranks, "with a list of counts, all equal", perf_all_gatherv},
    {"gather", any_ranks, "", perf_gather},
    {"scatter", any_ranks, "", perf_scatter},
    {"all_to_all", any_ranks, "", perf_all_to_all},
    {"all_to_allv", any_ranks, "with lists of counts, all equal", perf_all_to_allv},
    {NULL, any_ranks, NULL, NULL},
};

static void print_help(void) {
    printf(
        "usage: LAUNCHER dlperf [option]... TEST...\n"
        "       dlperf limits\n"
        "       dlperf [option]... launch -- LAUNCHER [its option]...\n"
        "Measures %s; the best of several batches is printed.\n\nTests:\n",
        MESSAGING_NAME
    );
    for (const struct perf_test* test = perf_tests; test->name != NULL; ++test) {
        printf("  %-16s %s\n", test->name, test->help);
    }
    printf(
        "  %-16s %s\n"
        "  %-16s %s\n"
        "\nOptions:\n"
        "  --sizes FROM:TO    bytes of a message, from FROM to TO (8:4194304)\n"
        "  --step N           from one size to the next, a factor (2)\n"
        "  --one-more         after each size the one that is a byte longer\n"
        "  --batches N        batches of which the best counts (5)\n"
        "  --window N         messages in flight (64)\n"
        "  --threads N        threads of a rank in the test threads (4)\n"
        "  --ranks FROM:TO    of the jobs that the test launch starts, doubled each time (1:16)\n"
        "  --wait SECONDS     how long ranks wait in the test waiting (2)\n"
        "  --rotate           every message from another place of 64 MiB, not from one buffer\n"
        "  --heap             buffers in memory of dlrt_alloc, of MPI_Alloc_mem on MPI\n"
        "  --validate         check every byte, outside of the times\n"
        "  --json             a line of JSON for each result\n",
        "limits", "what this machine can do at best, without any library", "launch",
        "a launcher's whole run of `true`, and of the test start, by the number of ranks"
    );
}

static _Noreturn void refuse(const char* what, const char* value, const char* valid) {
    fprintf(stderr, "dlperf: %s: '%s' is not valid; valid %s\n", what, value, valid);
    exit(2);
}

static long parse_number(const char* option, const char* text, long least, long most) {
    char valid[64];
    char* end = NULL;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && number >= least && number <= most) {
        return number;
    }
    snprintf(valid, sizeof valid, "are %ld to %ld", least, most);
    refuse(option, text, valid);
}

/* FROM:TO */
static void parse_range(const char* option, const char* text, long most, long* from, long* to) {
    char copy[64];
    snprintf(copy, sizeof copy, "%s", text);
    char* colon = strchr(copy, ':');
    if (colon == NULL) refuse(option, text, "is FROM:TO");
    *colon = '\0';
    *from = parse_number(option, copy, 1, most);
    *to = parse_number(option, colon + 1, 1, most);
    if (*to < *from) refuse(option, text, "is FROM:TO with FROM <= TO");
}

static void parse_options(int argc, char** argv) {
    static const struct option options[] = {
        {"sizes", required_argument, NULL, 's'},   {"ranks", required_argument, NULL, 'n'},
        {"batches", required_argument, NULL, 'b'}, {"window", required_argument, NULL, 'w'},
        {"threads", required_argument, NULL, 't'}, {"wait", required_argument, NULL, 'p'},
        {"step", required_argument, NULL, 'f'},    {"one-more", no_argument, NULL, 'o'},
        {"rotate", no_argument, NULL, 'r'},        {"heap", no_argument, NULL, 'm'},
        {"validate", no_argument, NULL, 'v'},      {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    long from = 0, to = 0;
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (option == 's') {
            parse_range("--sizes", optarg, 1l << 30, &from, &to);
            perf_options.smallest_bytes = (size_t)from;
            perf_options.largest_bytes = (size_t)to;
        }
        if (option == 'n') {
            parse_range("--ranks", optarg, 100000, &from, &to);
            perf_options.fewest_ranks = (int)from;
            perf_options.most_ranks = (int)to;
        }
        if (option == 'f') perf_options.step = (size_t)parse_number("--step", optarg, 2, 1 << 20);
        if (option == 'b') {
            perf_options.batch_count = (int)parse_number("--batches", optarg, 1, 100000);
        }
        if (option == 'w') {
            perf_options.window = (int)parse_number("--window", optarg, 1, perf_window_max);
        }
        if (option == 't') {
            perf_options.thread_count = (int)parse_number("--threads", optarg, 1, 64);
        }
        if (option == 'p') perf_options.wait_s = (double)parse_number("--wait", optarg, 1, 3600);
        if (option == 'o') perf_options.has_one_more = true;
        if (option == 'r') perf_options.is_rotated = true;
        if (option == 'm') perf_options.is_in_heap = true;
        if (option == 'v') perf_options.is_validated = true;
        if (option == 'j') perf_options.is_json = true;
        if (option == 'h') {
            print_help();
            exit(0);
        }
        if (option == '?') exit(2);
    }
}

static const struct perf_test* find_test(const char* name) {
    for (const struct perf_test* test = perf_tests; test->name != NULL; ++test) {
        if (strcmp(test->name, name) == 0) return test;
    }
    fprintf(stderr, "dlperf: there is no test '%s'; dlperf --help lists them\n", name);
    exit(2);
}

/* Whether this job has the ranks that the test needs; rank 0 says what it needs. */
static bool can_run(const struct perf_test* test) {
    const int size = msg_size();
    const char* needs = NULL;
    if (test->ranks == two_ranks && size != 2) needs = "2 ranks";
    if (test->ranks == even_ranks && size % 2 != 0) needs = "an even number of ranks";
    if (needs == NULL) return true;
    if (msg_rank() == 0) {
        fprintf(stderr, "dlperf: %s needs %s, this job has %d\n", test->name, needs, size);
    }
    return false;
}

int main(int argc, char** argv) {
    parse_options(argc, argv);
    if (optind == argc) {
        fprintf(stderr, "dlperf: a test is missing; dlperf --help lists them\n");
        return 2;
    }
    if (strcmp(argv[optind], "limits") == 0) return perf_limits();
    if (strcmp(argv[optind], "launch") == 0) {
        return perf_launch(argc - optind - 1, argv + optind + 1);
    }
    int has_threads = 0;
    for (int i = optind; i < argc; ++i) {
        if (find_test(argv[i])->run == perf_threads) has_threads = 1;
    }
    int status = 0;
    msg_init(has_threads);
    for (int i = optind; i < argc; ++i) {
        const struct perf_test* test = find_test(argv[i]);
        if (can_run(test))
            test->run();
        else
            status = 2;
    }
    msg_finalize();
    return status;
}
