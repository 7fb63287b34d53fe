// SPDX-License-Identifier: Apache-2.0
#include "launcher/lost_daemon.hpp"

#include "launcher/job_outcome.hpp"
#include "launcher/process_tree.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/wireup/message.hpp"

#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::uint64_t limit_ns = 12'000'000'000;
constexpr long pause_ns = 5'000'000;
constexpr int last_moment_ms = 200;

/// A moment is granted: the stream of a process ends before it can be reaped.
LostDaemon end_daemon(pid_t pid) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd entry{process.get(), POLLIN, 0};
    const bool is_dead = process.is_open() && ::poll(&entry, 1, last_moment_ms) == 1;
    if (!is_dead) ::kill(pid, SIGKILL);
    int wait_status = 0;
    if (::waitpid(pid, &wait_status, 0) != pid || !is_dead) return {};
    return {describe_end(wait_status)};
}

/// A keeper that is stopped as well can't do its work, which then is ours.
void replace_stopped_keeper(pid_t keeper) {
    const bool is_alone = kill_descendants(keeper) == 0;
    if (is_alone) ::kill(keeper, SIGKILL);
}

}  // namespace

LostDaemon end_processes_of_lost_daemon(pid_t daemon_pid, const std::string& job_id) {
    LostDaemon lost = end_daemon(daemon_pid);
    const std::string mark = fmt::format("{}={}", environment::job_id, job_id);
    const std::uint64_t limit_at_ns = monotonic_ns() + limit_ns;
    bool is_anybody_left = true;
    while (is_anybody_left && monotonic_ns() < limit_at_ns) {
        is_anybody_left = false;
        for (const pid_t pid : living_descendants(::getpid())) {
            const auto state = read_process_state(pid);
            if (!state) continue;
            // Others below us may be the user's own: a shell's children outlive its exec.
            const bool is_keeper = state->name == "dlrt-keeper";
            const bool is_of_job = has_in_environment(pid, mark);
            is_anybody_left |= is_keeper || is_of_job;
            if (is_of_job) ::kill(pid, SIGKILL);
            if (is_keeper && state->letter == 'T') replace_stopped_keeper(pid);
            ::waitpid(pid, nullptr, WNOHANG);
        }
        const timespec pause{0, pause_ns};
        if (is_anybody_left) ::nanosleep(&pause, nullptr);
    }
    return lost;
}

}  // namespace dlrt::launcher
