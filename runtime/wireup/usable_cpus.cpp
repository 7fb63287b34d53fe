// SPDX-License-Identifier: Apache-2.0
#include "runtime/wireup/usable_cpus.hpp"

#include "runtime/wireup/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <sched.h>

namespace dlrt {
namespace {

constexpr std::size_t cpu_set_cpus = 8192;

template<typename Number>
std::optional<Number> parse_number(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

/// Cpus' worth of time that one level allows, rounded up; nothing when it sets no limit.
std::optional<std::uint64_t> quota_of_level(const std::string& folder, bool is_v2) {
    std::optional<std::int64_t> quota;
    std::optional<std::int64_t> period;
    if (is_v2) {
        const std::string text = read_text_file(folder + "/cpu.max");
        const auto parts = split_text(text, ' ');
        if (parts.size() != 2) return {};
        quota = parse_number<std::int64_t>(parts[0]);
        period = parse_number<std::int64_t>(parts[1]);
    } else {
        quota = parse_number<std::int64_t>(read_text_file(folder + "/cpu.cfs_quota_us"));
        period = parse_number<std::int64_t>(read_text_file(folder + "/cpu.cfs_period_us"));
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
    for (const std::string_view part : split_text(text, ',')) {
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
    for (const CgroupHierarchy& hierarchy : find_cgroups(root, "cpuset")) {
        const std::string folder = hierarchy.mount_point + hierarchy.group;
        const char* name = hierarchy.is_v2 ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus";
        const auto allowed = parse_cpu_list(read_text_file(folder + name));
        if (!allowed || allowed->empty()) continue;
        std::erase_if(usable.cpus, [&](std::uint32_t cpu) {
            return std::ranges::find(*allowed, cpu) == allowed->end();
        });
    }
    std::uint64_t count = std::max<std::uint64_t>(usable.cpus.size(), 1);
    for (const CgroupHierarchy& hierarchy : find_cgroups(root, "cpu")) {
        for (const std::string& folder : hierarchy.levels()) {
            count = std::min(count, quota_of_level(folder, hierarchy.is_v2).value_or(count));
        }
    }
    usable.count = static_cast<std::uint32_t>(count);
    return usable;
}

UsableCpus find_usable_cpus() {
    return usable_cpus_below("", own_affinity());
}

}  // namespace dlrt
