// SPDX-License-Identifier: Apache-2.0
#include "launcher/lost_daemon.hpp"

#include "launcher/process_tree.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/wireup/message.hpp"

#include <csignal>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::uint64_t limit_ns = 12'000'000'000;
constexpr long pause_ns = 5'000'000;

}  // namespace

void end_processes_of_lost_daemon(pid_t daemon_pid, const std::string& job_id) {
    // It may still be there when its stream broke for another reason.
    ::kill(daemon_pid, SIGKILL);
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
            ::waitpid(pid, nullptr, WNOHANG);
        }
        const timespec pause{0, pause_ns};
        if (is_anybody_left) ::nanosleep(&pause, nullptr);
    }
}

}  // namespace dlrt::launcher
