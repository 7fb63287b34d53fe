// SPDX-License-Identifier: Apache-2.0
#include "launcher/process_tree.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/wireup/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <map>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::uint64_t kill_limit_ns = 10'000'000'000;
constexpr long kill_pause_ns = 1'000'000;

template<typename Visit>
void for_each_number_in(const char* folder, Visit visit) {
    DIR* listing = ::opendir(folder);
    if (listing == nullptr) return;
    while (const dirent* entry = ::readdir(listing)) {
        const char* end = entry->d_name + std::strlen(entry->d_name);
        pid_t number = 0;
        const auto [stop, error] = std::from_chars(entry->d_name, end, number);
        if (error == std::errc() && stop == end) visit(number);
    }
    ::closedir(listing);
}

}  // namespace

std::optional<ProcessState> read_process_state(pid_t pid) {
    const std::string text = read_text_file(fmt::format("/proc/{}/stat", pid));
    // The name may hold blanks and parentheses: it ends at the last one.
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close + 4 > text.size())
        return {};
    ProcessState state;
    state.name = text.substr(open + 1, close - open - 1);
    state.letter = text[close + 2];
    std::from_chars(text.data() + close + 4, text.data() + text.size(), state.parent);
    return state;
}

std::vector<pid_t> living_descendants(pid_t root) {
    std::multimap<pid_t, std::pair<pid_t, char>> children;
    for_each_number_in("/proc", [&](pid_t pid) {
        if (const auto state = read_process_state(pid)) {
            children.emplace(state->parent, std::pair(pid, state->letter));
        }
    });
    std::vector<pid_t> found;
    std::vector<pid_t> parents{root};
    while (!parents.empty()) {
        const auto [begin, end] = children.equal_range(parents.back());
        parents.pop_back();
        for (auto child = begin; child != end; ++child) {
            const auto [pid, letter] = child->second;
            parents.push_back(pid);
            if (letter != 'Z' && letter != 'X') found.push_back(pid);
        }
    }
    return found;
}

std::vector<pid_t> threads_of(pid_t pid) {
    std::vector<pid_t> threads;
    for_each_number_in(fmt::format("/proc/{}/task", pid).c_str(), [&](pid_t thread) {
        threads.push_back(thread);
    });
    return threads;
}

std::size_t kill_descendants(pid_t root) {
    const std::vector<pid_t> pids = living_descendants(root);
    for (const pid_t pid : pids) ::kill(pid, SIGKILL);
    return pids.size();
}

bool kill_and_reap_all_children() {
    const std::uint64_t limit_ns = monotonic_ns() + kill_limit_ns;
    while (true) {
        pid_t reaped = 0;
        while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {}
        if (reaped < 0) return true;
        if (monotonic_ns() > limit_ns) return false;
        kill_descendants(::getpid());
        const timespec pause{0, kill_pause_ns};
        ::nanosleep(&pause, nullptr);
    }
}

pid_t find_pipe_holder(std::span<const pid_t> pids, std::span<const ino_t> pipes) {
    for (const pid_t pid : pids) {
        const std::string folder = fmt::format("/proc/{}/fd", pid);
        bool is_holder = false;
        for_each_number_in(folder.c_str(), [&](int descriptor) {
            struct stat facts = {};
            if (::stat(fmt::format("{}/{}", folder, descriptor).c_str(), &facts) != 0) return;
            is_holder |= S_ISFIFO(facts.st_mode) && std::ranges::count(pipes, facts.st_ino) > 0;
        });
        if (is_holder) return pid;
    }
    return 0;
}

bool has_in_environment(pid_t pid, std::string_view assignment) {
    std::string text = read_text_file(fmt::format("/proc/{}/environ", pid));
    text.insert(text.begin(), '\0');
    text.push_back('\0');
    return text.find(fmt::format("{0}{1}{0}", '\0', assignment)) != std::string::npos;
}

}  // namespace dlrt::launcher
