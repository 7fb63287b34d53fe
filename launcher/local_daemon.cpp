// SPDX-License-Identifier: Apache-2.0
#include "launcher/local_daemon.hpp"

#include "launcher/daemon.hpp"
#include "launcher/descriptors.hpp"
#include "runtime/base/error_text.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr int goodbye_ms = 2000;

}  // namespace

Result<LocalDaemon> fork_local_daemon(const ProcessDefaults& defaults, const DaemonPlace& place) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail_errno(errno, "cannot make a socket pair");
    }
    Fd head_side(ends[0]);
    Fd daemon_side(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0) return fail_errno(errno, "cannot start the daemon");
    if (pid == 0) {
        close_descriptors_except({STDIN_FILENO, STDERR_FILENO, daemon_side.get()});
        static_cast<void>(head_side.release());
        ::_exit(run_daemon({std::move(daemon_side), Fd()}, place, defaults));
    }
    return LocalDaemon{pid, std::move(head_side)};
}

void wait_for_local_daemon(pid_t pid) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd entry{process.get(), POLLIN, 0};
    // Nobody of the job is left by now: one that was stopped meanwhile isn't needed any more.
    if (process.is_open() && ::poll(&entry, 1, goodbye_ms) == 0) ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

}  // namespace dlrt::launcher
