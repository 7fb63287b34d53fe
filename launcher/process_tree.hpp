// SPDX-License-Identifier: Apache-2.0
/// What /proc says about processes: who descends from whom, who holds a pipe, who belongs to a job.
/// Every answer may be old by the time it is used: callers repeat until nothing is left.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace dlrt::launcher {

struct ProcessState {
    pid_t parent = 0;
    char letter = '?';  ///< R, S, D, T, Z … as in /proc/PID/stat.
    std::string name;   ///< Short name, at most 15 bytes.
};

/// Nothing when the process is gone.
[[nodiscard]] std::optional<ProcessState> read_process_state(pid_t pid);

/// All processes below `root`, without it and without zombies. Needs `root` to be a subreaper for
/// those whose parents have died.
[[nodiscard]] std::vector<pid_t> living_descendants(pid_t root);

/// Nothing when the process is gone.
[[nodiscard]] std::vector<pid_t> threads_of(pid_t pid);

/// SIGKILL to all of them, stopped ones too. Returns how many there were.
std::size_t kill_descendants(pid_t root);

/// Kills and reaps everything below the calling process, until nothing is left or 10 s have passed.
/// Returns whether nothing is left.
bool kill_and_reap_all_children();

/// The first of `pids` that holds one of these pipes (inode numbers) open; 0 if none does.
[[nodiscard]] pid_t find_pipe_holder(std::span<const pid_t> pids, std::span<const ino_t> pipes);

/// Whether the process was started with exactly this NAME=value in its environment.
[[nodiscard]] bool has_in_environment(pid_t pid, std::string_view assignment);

}  // namespace dlrt::launcher
