// SPDX-License-Identifier: Apache-2.0
/// Children of a test: forked, watched through a pidfd, killed if the test ends before them.
#pragma once

#include "runtime/base/fd.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace dlrt::test {

struct Child {
    pid_t pid = -1;
    Fd descriptor;

    Child(pid_t child, Fd pidfd) : pid(child), descriptor(std::move(pidfd)) {}
    Child(Child&& other) noexcept
        : pid(std::exchange(other.pid, -1)), descriptor(std::move(other.descriptor)) {}
    Child& operator=(Child&&) = delete;
    ~Child() {
        if (pid > 0) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
        }
    }
    [[nodiscard]] bool has_ended() const {
        pollfd entry{descriptor.get(), POLLIN, 0};
        return ::poll(&entry, 1, 0) == 1;
    }
    /// Waits; the exit status, or 1000 + the signal's number. It can be asked once.
    [[nodiscard]] int status() const {
        int raw = 0;
        ::waitpid(pid, &raw, 0);
        const_cast<Child*>(this)->pid = -1;
        return WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw);
    }
};

/// Runs `body` in a child, whose exit status is what it returns.
template<typename Body>
Child fork_child(Body body) {
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::_exit(body());
    }
    const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (pid < 0 || descriptor < 0) std::abort();
    return {pid, Fd(descriptor)};
}

}  // namespace dlrt::test
