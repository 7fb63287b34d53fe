// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_process.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dlrt::launcher {
namespace {

/// Written by the child, which shares our memory until it executes the program.
struct ChildFailure {
    volatile int error = 0;
    volatile StartStage stage = StartStage::fork;
};

[[noreturn]] void give_up(ChildFailure& failure, StartStage stage) {
    failure.error = errno;
    failure.stage = stage;
    ::_exit(127);
}

/// Only async-signal-safe calls, and no write to memory but `failure`.
[[noreturn]] void become_rank(const RankStart& start, pid_t parent, ChildFailure& failure) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    for (int i = 0; i < 3; ++i) {
        if (::dup2(start.standard_descriptors[static_cast<std::size_t>(i)], i) < 0) {
            give_up(failure, StartStage::descriptors);
        }
    }
    for (std::size_t i = 0; i < rank_descriptor_count; ++i) {
        const int target = start.first_target + static_cast<int>(i);
        if (::dup2(start.passed_descriptors[i], target) < 0) {
            give_up(failure, StartStage::descriptors);
        }
    }
    if (start.cpus != nullptr && ::sched_setaffinity(0, start.cpus_size_bytes, start.cpus) != 0) {
        give_up(failure, StartStage::binding);
    }
    const MemoryPolicy* memory = start.memory;
    if (memory != nullptr && memory->is_set() &&
        ::syscall(SYS_set_mempolicy, memory->mode, memory->nodes.data(), memory->node_limit()) !=
            0) {
        give_up(failure, StartStage::memory);
    }
    if (::chdir(start.working_directory) != 0) give_up(failure, StartStage::working_directory);
    restore_process_defaults(*start.defaults);
    ::execve(start.path, start.arguments, start.environment);
    if (errno == ENOEXEC) ::execve("/bin/sh", start.shell_arguments, start.environment);
    give_up(failure, StartStage::exec);
}

}  // namespace

[[gnu::noinline]] StartResult start_rank(const RankStart& start) {
    ChildFailure failure;
    const pid_t parent = ::getpid();
    const pid_t pid = ::vfork();
    if (pid == 0) become_rank(start, parent, failure);
    if (pid < 0) return {-1, errno, StartStage::fork};
    if (failure.error == 0) return {pid, 0, StartStage::exec};
    ::waitpid(pid, nullptr, 0);
    return {-1, failure.error, failure.stage};
}

}  // namespace dlrt::launcher
