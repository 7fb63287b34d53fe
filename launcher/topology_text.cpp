// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_text.hpp"

#include "launcher/topology_tree.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = TopologyNode::Kind;

std::vector<std::uint32_t> ranks_on(
    const RanksByCpu& by_cpu, const std::vector<std::uint32_t>& cpus
) {
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t cpu : cpus) {
        const auto found = by_cpu.find(cpu);
        if (found != by_cpu.end()) {
            ranks.insert(ranks.end(), found->second.begin(), found->second.end());
        }
    }
    std::ranges::sort(ranks);
    ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
    return ranks;
}

class TextPicture {
  public:
    TextPicture(const HostTopology& topology, RanksByCpu by_cpu)
        : topology_(topology), by_cpu_(std::move(by_cpu)) {}
    std::string draw(const std::string& host_name) {
        text_ = summary_of(host_name, topology_) + "\n";
        draw_inside(build_topology_tree(topology_), 1);
        return std::move(text_);
    }

  private:
    void line(std::size_t depth, const std::string& words) {
        text_ += std::string(depth * 2, ' ') + words + '\n';
    }

    void draw_inside(const TopologyNode& node, std::size_t depth) {
        for (const std::size_t device : node.devices) {
            line(depth, label_of(topology_.devices[device]));
        }
        for (std::size_t i = 0; i < node.children.size();) {
            const TopologyNode& child = node.children[i];
            if (child.kind == Kind::core) {
                i = draw_cores(node.children, i, depth);
                continue;
            }
            line(depth, label_of(child));
            draw_inside(child, depth + 1);
            ++i;
        }
    }

    /// Draws the cores from `begin` on that are alike; returns the first that isn't.
    std::size_t draw_cores(
        const std::vector<TopologyNode>& nodes, std::size_t begin, std::size_t depth
    ) {
        const TopologyNode& first = nodes[begin];
        const std::vector<std::uint32_t> ranks = ranks_on(by_cpu_, first.cpus);
        std::vector<std::uint32_t> cpus;
        std::vector<std::uint32_t> numbers;
        std::size_t end = begin;
        while (end < nodes.size() && nodes[end].kind == Kind::core &&
               nodes[end].core_kind == first.core_kind &&
               nodes[end].cpus.size() == first.cpus.size() &&
               ranks_on(by_cpu_, nodes[end].cpus) == ranks) {
            numbers.push_back(static_cast<std::uint32_t>(nodes[end].index));
            cpus.insert(cpus.end(), nodes[end].cpus.begin(), nodes[end].cpus.end());
            ++end;
        }
        std::ranges::sort(cpus);
        std::string words = fmt::format(
            "{} core{} {}", has_kinds() ? (first.core_kind == 0 ? "slow" : "fast") : "",
            numbers.size() == 1 ? "" : "s", format_cpu_list(numbers)
        );
        if (words.front() == ' ') words.erase(0, 1);
        words += fmt::format(" (cpu{} {})", cpus.size() == 1 ? "" : "s", format_cpu_list(cpus));
        if (!ranks.empty()) words += ": " + rank_words(ranks);
        line(depth, words);
        return end;
    }

    [[nodiscard]] bool has_kinds() const {
        return std::ranges::any_of(topology_.cores, [](const TopologyObject& core) {
            return core.kind != 0;
        });
    }

    const HostTopology& topology_;
    RanksByCpu by_cpu_;
    std::string text_;
};

/// "package 0 cores 0-3 and package 1 core 4 in part".
std::string place_words(const HostTopology& topology, const std::vector<std::uint32_t>& cpus) {
    std::string words;
    for (std::size_t p = 0; p < topology.packages.size(); ++p) {
        std::vector<std::uint32_t> numbers;
        bool is_partial = false;
        for (std::size_t c = 0; c < topology.cores.size(); ++c) {
            const TopologyObject& core = topology.cores[c];
            const auto has = [&](std::uint32_t cpu) {
                return std::ranges::binary_search(cpus, cpu);
            };
            if (std::ranges::none_of(core.cpus, has) ||
                !std::ranges::binary_search(topology.packages[p].cpus, core.cpus.front())) {
                continue;
            }
            numbers.push_back(static_cast<std::uint32_t>(c));
            if (!std::ranges::all_of(core.cpus, has)) is_partial = true;
        }
        if (numbers.empty()) continue;
        if (!words.empty()) words += " and ";
        words += fmt::format(
            "package {} core{} {}{}", p, numbers.size() == 1 ? "" : "s", format_cpu_list(numbers),
            is_partial ? " in part" : ""
        );
    }
    return words;
}

std::string memory_words(
    const HostTopology& topology, const std::vector<std::uint32_t>& cpus, MemoryBinding binding
) {
    if (binding == MemoryBinding::first_touch) return "";
    std::vector<std::uint32_t> numbers;
    for (const TopologyObject& numa : topology.numas) {
        const bool is_near = cpus.empty() || std::ranges::any_of(numa.cpus, [&](std::uint32_t cpu) {
                                 return std::ranges::binary_search(cpus, cpu);
                             });
        if (is_near) numbers.push_back(numa.os_index);
    }
    std::ranges::sort(numbers);
    return fmt::format(
        ", memory {} numa {}", binding == MemoryBinding::local ? "of" : "interleaved over",
        format_cpu_list(numbers)
    );
}

}  // namespace

std::string draw_topology_text(
    const HostTopology& topology, const Placement& placement, std::uint32_t host_index,
    RankMarks marks
) {
    RanksByCpu by_cpu;
    if (marks == RankMarks::drawn) by_cpu = ranks_by_cpu(placement, host_index);
    return TextPicture(topology, std::move(by_cpu)).draw(placement.hosts[host_index].name);
}

std::vector<std::string> binding_lines(
    const Placement& placement, const std::vector<HostTopology>& topologies,
    MemoryBinding memory_binding
) {
    std::vector<std::string> lines;
    for (std::uint32_t number = 0; number < placement.size(); ++number) {
        const PlacedRank& rank = placement.ranks[number];
        const PlacedHost& host = placement.hosts[rank.host_index];
        const HostTopology& topology = topologies[rank.host_index];
        std::string words = fmt::format("rank {} on {}: ", number, host.name);
        if (rank.cpus.empty()) {
            words += "not bound";
            if (!host.unbound_reason.empty()) words += fmt::format(" ({})", host.unbound_reason);
        } else {
            words += fmt::format(
                "{} (cpu{} {})", place_words(topology, rank.cpus), rank.cpus.size() == 1 ? "" : "s",
                format_cpu_list(rank.cpus)
            );
        }
        lines.push_back(words + memory_words(topology, rank.cpus, memory_binding));
    }
    return lines;
}

}  // namespace dlrt::launcher
