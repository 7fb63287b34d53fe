// SPDX-License-Identifier: Apache-2.0
#include "runtime/wireup/usable_cpus.hpp"

#include "runtime/base/fd.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <iterator>
#include <sched.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt {
namespace {

constexpr std::size_t cpu_set_cpus = 8192;

std::string read_text(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    char chunk[4096];
    ssize_t got = 0;
    while (file.is_open() && (got = ::read(file.get(), chunk, sizeof chunk)) > 0) {
        text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        if (end != 0) parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

template<typename Number>
std::optional<Number> parse_number(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

bool contains(const std::vector<std::string_view>& parts, std::string_view part) {
    return std::ranges::find(parts, part) != parts.end();
}

/// One hierarchy that limits this process: where its files are, from the own group up to the mount.
struct Hierarchy {
    std::string mount_point;
    std::string group;  ///< Relative to the mount; "" or "/a/b".
    bool is_v2 = false;
};

/// `controller` is "cpu" or "cpuset"; the unified hierarchy serves both.
std::vector<Hierarchy> find_hierarchies(const std::string& root, std::string_view controller) {
    std::vector<Hierarchy> found;
    const std::string mounts = read_text(root + "/proc/self/mountinfo");
    const std::string groups = read_text(root + "/proc/self/cgroup");
    for (const std::string_view line : split(mounts, '\n')) {
        const auto fields = split(line, ' ');
        const auto dash = std::ranges::find(fields, "-");
        if (fields.size() < 5 || std::distance(dash, fields.end()) < 4) continue;
        const bool is_v2 = dash[1] == "cgroup2";
        if (!is_v2 && (dash[1] != "cgroup" || !contains(split(dash[3], ','), controller))) continue;
        for (const std::string_view group_line : split(groups, '\n')) {
            const std::size_t first = group_line.find(':');
            const std::size_t second = group_line.find(':', first + 1);
            if (second == std::string_view::npos) continue;
            const std::string_view names = group_line.substr(first + 1, second - first - 1);
            if (is_v2 ? !names.empty() : !contains(split(names, ','), controller)) continue;
            std::string_view group = group_line.substr(second + 1);
            // In a container the mount shows a part of the tree: what lies above it isn't to be
            // seen.
            const std::string_view mount_root = fields[3];
            if (mount_root != "/" && group.starts_with(mount_root)) {
                group.remove_prefix(mount_root.size());
            }
            if (group == "/") group = "";
            found.push_back({root + std::string(fields[4]), std::string(group), is_v2});
        }
    }
    return found;
}

template<typename Visit>
void for_each_level(const Hierarchy& hierarchy, Visit visit) {
    std::string group = hierarchy.group;
    while (true) {
        visit(hierarchy.mount_point + group);
        const std::size_t slash = group.rfind('/');
        if (slash == std::string::npos) return;
        group.resize(slash);
    }
}

/// Cpus' worth of time that one level allows, rounded up; nothing when it sets no limit.
std::optional<std::uint64_t> quota_of_level(const std::string& folder, bool is_v2) {
    std::optional<std::int64_t> quota;
    std::optional<std::int64_t> period;
    if (is_v2) {
        const std::string text = read_text(folder + "/cpu.max");
        const auto parts = split(text, ' ');
        if (parts.size() != 2) return {};
        quota = parse_number<std::int64_t>(parts[0]);
        period = parse_number<std::int64_t>(parts[1]);
    } else {
        quota = parse_number<std::int64_t>(read_text(folder + "/cpu.cfs_quota_us"));
        period = parse_number<std::int64_t>(read_text(folder + "/cpu.cfs_period_us"));
    }
    if (!quota || !period || *quota <= 0 || *period <= 0) return {};
    return static_cast<std::uint64_t>((*quota + *period - 1) / *period);
}

std::vector<std::uint32_t> own_affinity() {
    std::vector<std::uint32_t> cpus;
    cpu_set_t* set = CPU_ALLOC(cpu_set_cpus);
    const std::size_t size_bytes = CPU_ALLOC_SIZE(cpu_set_cpus);
    if (set != nullptr && ::sched_getaffinity(0, size_bytes, set) == 0) {
        for (std::size_t cpu = 0; cpu < cpu_set_cpus; ++cpu) {
            if (CPU_ISSET_S(cpu, size_bytes, set)) cpus.push_back(static_cast<std::uint32_t>(cpu));
        }
    }
    CPU_FREE(set);
    return cpus;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    std::vector<std::uint32_t> cpus;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t dash = part.find('-');
        const auto first = parse_number<std::uint32_t>(part.substr(0, dash));
        const auto last = dash == std::string_view::npos
                              ? first
                              : parse_number<std::uint32_t>(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last >= cpu_set_cpus) return {};
        for (std::uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    }
    return cpus;
}

UsableCpus usable_cpus_below(const std::string& root, std::vector<std::uint32_t> affinity) {
    UsableCpus usable;
    usable.cpus = std::move(affinity);
    for (const Hierarchy& hierarchy : find_hierarchies(root, "cpuset")) {
        const std::string folder = hierarchy.mount_point + hierarchy.group;
        const char* name = hierarchy.is_v2 ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus";
        const auto allowed = parse_cpu_list(read_text(folder + name));
        if (!allowed || allowed->empty()) continue;
        std::erase_if(usable.cpus, [&](std::uint32_t cpu) {
            return std::ranges::find(*allowed, cpu) == allowed->end();
        });
    }
    std::uint64_t count = std::max<std::uint64_t>(usable.cpus.size(), 1);
    for (const Hierarchy& hierarchy : find_hierarchies(root, "cpu")) {
        for_each_level(hierarchy, [&](const std::string& folder) {
            count = std::min(count, quota_of_level(folder, hierarchy.is_v2).value_or(count));
        });
    }
    usable.count = static_cast<std::uint32_t>(count);
    return usable;
}

UsableCpus find_usable_cpus() {
    return usable_cpus_below("", own_affinity());
}

}  // namespace dlrt
