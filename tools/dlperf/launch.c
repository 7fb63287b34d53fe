/* SPDX-License-Identifier: Apache-2.0 */
/* What starting costs, from outside: the launcher's whole run of a program that does nothing, and
 * of one that joins, meets the others once and leaves, by the number of ranks. The launcher is told
 * that number with -np, which mpirun and mpiexec understand as well. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests.h"

enum { program_words_max = 2 };
extern char** environ;

/* LAUNCHER [option]... -np RANKS PROGRAM... */
struct command {
    char** words;
    size_t launcher_count;
    char ranks[16];
};

static struct command command_of(char** launcher, size_t count) {
    static char np[] = "-np";
    struct command command = {calloc(count + 3 + program_words_max, sizeof(char*)), count, ""};
    if (command.words == NULL) {
        fprintf(stderr, "dlperf: no memory\n");
        exit(1);
    }
    memcpy(command.words, launcher, count * sizeof(char*));
    command.words[count] = np;
    return command;
}

static _Noreturn void give_up(const struct command* command, const char* why, int said) {
    char text[4096];
    fprintf(stderr, "dlperf: launch: '%s -np %s' %s\n", command->words[0], command->ranks, why);
    lseek(said, 0, SEEK_SET);
    for (ssize_t size; (size = read(said, text, sizeof text)) > 0;) {
        fwrite(text, 1, (size_t)size, stderr);
    }
    exit(1);
}

/* Milliseconds of one run, whose output is dropped, and whose errors are shown where it fails. */
static double run_ms(const struct command* command, int said) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, said, STDERR_FILENO);
    pid_t pid = 0;
    int status = 0;
    if (ftruncate(said, 0) != 0) give_up(command, strerror(errno), said);
    const double begin_us = perf_now_us();
    const int error = posix_spawnp(&pid, command->words[0], &files, NULL, command->words, environ);
    if (error != 0) give_up(command, strerror(error), said);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) give_up(command, strerror(errno), said);
    }
    const double taken_ms = (perf_now_us() - begin_us) * 1e-3;
    posix_spawn_file_actions_destroy(&files);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) give_up(command, "failed:", said);
    return taken_ms;
}

static void measure(struct command* command, char* const* program, const char* name, int said) {
    double best_ms = 0;
    command->words[command->launcher_count + 1] = command->ranks;
    memcpy(
        command->words + command->launcher_count + 2, program, program_words_max * sizeof(char*)
    );
    for (int i = 0; i < perf_options.batch_count; ++i) {
        const double taken_ms = run_ms(command, said);
        if (i == 0 || taken_ms < best_ms) best_ms = taken_ms;
    }
    perf_print(name, (size_t)atol(command->ranks), best_ms, "ms", "launcher");
}

int perf_launch(int count, char** launcher) {
    static char nothing[] = "true", start[] = "start";
    char own_path[4096];
    if (count < 1) {
        fprintf(stderr, "dlperf: launch: a launcher is missing: dlperf launch -- dlrun\n");
        return 2;
    }
    const ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    FILE* const errors = tmpfile();
    if (length < 0 || errors == NULL) {
        fprintf(stderr, "dlperf: launch: %s\n", strerror(errno));
        return 1;
    }
    own_path[length] = '\0';
    char* const idle[program_words_max] = {nothing, NULL};
    char* const meeting[program_words_max] = {own_path, start};
    struct command command = command_of(launcher, (size_t)count);
    for (int ranks = perf_options.fewest_ranks; ranks <= perf_options.most_ranks; ranks *= 2) {
        snprintf(command.ranks, sizeof command.ranks, "%d", ranks);
        measure(&command, idle, "launch_true", fileno(errors));
        measure(&command, meeting, "launch_start", fileno(errors));
    }
    free(command.words);
    fclose(errors);
    return 0;
}
