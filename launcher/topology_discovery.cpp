// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_discovery.hpp"

#include "launcher/frame.hpp"
#include "launcher/topology_sysfs.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int answer_time_ms = 30'000;
constexpr const char* helper_name = "dlrt-topology";

/// Beside the running program: in a build folder as in an installed one.
Result<std::string> helper_path() {
    std::array<char, 4096> own_path{};
    const ssize_t length = ::readlink("/proc/self/exe", own_path.data(), own_path.size() - 1);
    if (length <= 0) return fail_errno(errno, "cannot find the program {}", helper_name);
    std::string path(own_path.data(), static_cast<std::size_t>(length));
    path.resize(path.rfind('/') + 1);
    return path + helper_name;
}

/// A child and the pipe that its answer comes from.
struct Helper {
    pid_t pid = -1;
    Fd answer;
};

Result<Helper> start_helper(TopologyDetail detail, std::span<const std::uint32_t> usable_cpus) {
    Result<std::string> path = helper_path();
    if (!path) return path.error();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "cannot make a pipe");
    Helper helper{-1, Fd(ends[0])};
    const Fd target(ends[1]);
    std::string detail_word = detail == TopologyDetail::devices ? "devices" : "full";
    std::string cpu_word = format_cpu_list(usable_cpus);
    std::array<char*, 4> arguments{path->data(), detail_word.data(), cpu_word.data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    ::posix_spawn_file_actions_adddup2(&actions, target.get(), STDOUT_FILENO);
    // hwloc prints boxes about odd firmware, which is nothing that a user of ours asked for.
    ::posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
    const int error = ::posix_spawn(
        &helper.pid, path->c_str(), &actions, nullptr, arguments.data(), environ
    );
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return fail_errno(error, "cannot start '{}'", *path);
    return helper;
}

/// Kills a helper that doesn't answer: a driver that hangs must not hang the job.
Result<Frame> receive_answer(const Helper& helper) {
    pollfd watch{helper.answer.get(), POLLIN, 0};
    int ready = 0;
    do {
        ready = ::poll(&watch, 1, answer_time_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) {
        ::kill(helper.pid, SIGKILL);
        return fail(Errc::system, "{} did not answer within 30 s", helper_name);
    }
    return receive_frame(helper.answer.get());
}

}  // namespace

Result<HostTopology> discover_topology(
    TopologyDetail detail, std::span<const std::uint32_t> usable_cpus
) {
    if (detail == TopologyDetail::quick) return read_quick_topology("", usable_cpus);
    Result<Helper> helper = start_helper(detail, usable_cpus);
    if (!helper) return helper.error();
    Result<Frame> frame = receive_answer(*helper);
    helper->answer.reset();
    int wait_status = 0;
    ::waitpid(helper->pid, &wait_status, 0);
    if (!frame) {
        const std::string cause = last_error_text();
        return fail(
            Errc::system, "{} failed (wait status {}): {}", helper_name, wait_status, cause
        );
    }
    if (auto* facts = std::get_if<HostFacts>(&*frame)) return std::move(facts->topology);
    const auto* failure = std::get_if<HostFailed>(&*frame);
    return fail(
        Errc::system, "{}: {}", helper_name,
        failure == nullptr ? "an answer of the wrong kind" : failure->text
    );
}

}  // namespace dlrt::launcher
