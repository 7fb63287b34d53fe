// SPDX-License-Identifier: Apache-2.0
#include "launcher/memory_events.hpp"

#include "runtime/wireup/cgroup.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// v1 writes this, rounded down to pages, where there is no limit.
constexpr std::uint64_t no_limit_bytes = std::uint64_t{1} << 62;

std::optional<std::uint64_t> read_limit(const std::string& path) {
    const std::string text = read_text_file(path);
    std::uint64_t bytes = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc() || bytes >= no_limit_bytes) return {};
    return bytes;
}

bool has_grown(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
    return before && after && *after > *before;
}

std::string size_text(std::uint64_t bytes) {
    constexpr double kib = 1024;
    const auto size = static_cast<double>(bytes);
    if (size >= kib * kib * kib) return fmt::format("{:.3g} GiB", size / (kib * kib * kib));
    return fmt::format("{:.3g} MiB", size / (kib * kib));
}

}  // namespace

std::optional<std::uint64_t> find_counter(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.size() <= name.size() || !line.starts_with(name)) continue;
        if (line[name.size()] != ' ' && line[name.size()] != '\t') continue;
        std::uint64_t value = 0;
        const char* begin = line.data() + name.size() + 1;
        const auto [stop, error] = std::from_chars(begin, line.data() + line.size(), value);
        if (error == std::errc()) return value;
    }
    return {};
}

MemoryEvents read_memory_events(const std::string& root) {
    MemoryEvents events;
    events.host_kills = find_counter(read_text_file(root + "/proc/vmstat"), "oom_kill");
    for (const CgroupHierarchy& hierarchy : find_cgroups(root, "memory")) {
        const std::string folder = hierarchy.mount_point + hierarchy.group;
        const char* counters = hierarchy.is_v2 ? "/memory.events" : "/memory.oom_control";
        const auto kills = find_counter(read_text_file(folder + counters), "oom_kill");
        // The unified hierarchy is there without this controller as well.
        if (!kills) continue;
        events.group = hierarchy.group.empty() ? "/" : hierarchy.group;
        events.group_kills = kills;
        const char* limit = hierarchy.is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
        for (const std::string& level : hierarchy.levels()) {
            const std::uint64_t bytes = read_limit(level + limit).value_or(0);
            if (bytes == 0) continue;
            const std::uint64_t lowest = events.limit_bytes;
            events.limit_bytes = lowest == 0 ? bytes : std::min(lowest, bytes);
        }
    }
    return events;
}

std::string out_of_memory_remark(const MemoryEvents& before, const MemoryEvents& after) {
    if (has_grown(before.group_kills, after.group_kills)) {
        const std::string limit = after.limit_bytes == 0
                                      ? ""
                                      : fmt::format("limit {} of ", size_text(after.limit_bytes));
        return fmt::format("likely because memory ran out ({}cgroup {})", limit, after.group);
    }
    if (has_grown(before.host_kills, after.host_kills)) {
        return "maybe because memory ran out (the kernel has killed a process of this host for it)";
    }
    return "";
}

}  // namespace dlrt::launcher
