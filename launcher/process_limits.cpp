// SPDX-License-Identifier: Apache-2.0
#include "launcher/process_limits.hpp"

#include "launcher/memory_events.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/cgroup.hpp"

#include <charconv>
#include <filesystem>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return {};
    return number;
}

/// Of all users: "0.00 0.01 0.05 1/523 12345" has 523.
std::optional<std::uint64_t> tasks_on_this_host() {
    const std::string text = read_text_file("/proc/loadavg");
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return {};
    return number_in(std::string_view(text).substr(slash + 1));
}

std::uint64_t tasks_of(uid_t user) {
    std::uint64_t count = 0;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", problem)) {
        struct stat facts = {};
        if (!number_in(entry.path().filename().native())) continue;
        if (::stat(entry.path().c_str(), &facts) != 0 || facts.st_uid != user) continue;
        count += find_counter(read_text_file(entry.path() / "status"), "Threads:").value_or(1);
    }
    return count;
}

Status check_room(const std::optional<ProcessRoom>& room, std::uint64_t needed) {
    if (!room || room->left() >= needed) return {};
    return fail(
        Errc::limit, "{} more processes are needed, but {} allows {}, of which {} are in use",
        needed, room->limit, room->allowed, room->in_use
    );
}

}  // namespace

std::optional<ProcessRoom> cgroup_room(const std::string& root) {
    std::optional<ProcessRoom> tightest;
    for (const CgroupHierarchy& hierarchy : find_cgroups(root, "pids")) {
        for (const std::string& level : hierarchy.levels()) {
            const auto allowed = number_in(read_text_file(level + "/pids.max"));
            const auto in_use = number_in(read_text_file(level + "/pids.current"));
            if (!allowed || !in_use) continue;
            const std::string group = level.substr(hierarchy.mount_point.size());
            ProcessRoom room{
                *allowed, *in_use,
                fmt::format("pids.max of cgroup {}", group.empty() ? "/" : group)};
            if (!tightest || room.left() < tightest->left()) tightest = std::move(room);
        }
    }
    return tightest;
}

std::optional<ProcessRoom> user_room(std::uint64_t needed) {
    rlimit limit{};
    const uid_t user = ::getuid();
    if (user == 0 || ::getrlimit(RLIMIT_NPROC, &limit) != 0) return {};
    if (limit.rlim_cur == RLIM_INFINITY) return {};
    // Looking at every process costs more than starting some ranks.
    const auto all = tasks_on_this_host();
    if (all && limit.rlim_cur >= *all + needed) return {};
    return ProcessRoom{limit.rlim_cur, tasks_of(user), "the limit of processes ('ulimit -u')"};
}

Status check_process_limits(std::uint64_t needed) {
    if (const Status status = check_room(cgroup_room(""), needed); !status.ok()) return status;
    return check_room(user_room(needed), needed);
}

}  // namespace dlrt::launcher
