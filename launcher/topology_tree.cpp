// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_tree.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = TopologyNode::Kind;

std::string_view word_of(Kind kind) {
    switch (kind) {
        case Kind::package:
            return "package";
        case Kind::numa:
            return "numa";
        case Kind::l3:
            return "l3";
        case Kind::l2:
            return "l2";
        case Kind::core:
            return "core";
        case Kind::host:
            break;
    }
    return "host";
}

std::string size_words(std::uint64_t size_bytes) {
    constexpr std::uint64_t kib = 1024;
    if (size_bytes >= kib * kib * kib) {
        return fmt::format("{} GiB", (size_bytes + (kib * kib * kib) / 2) / (kib * kib * kib));
    }
    if (size_bytes >= kib * kib) return fmt::format("{} MiB", size_bytes / (kib * kib));
    return fmt::format("{} KiB", size_bytes / kib);
}

std::string counted(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// A cache of one core tells nothing about sharing.
bool is_worth_drawing(Kind kind, const TopologyObject& object, const HostTopology& topology) {
    if (kind == Kind::l3) return object.size_bytes != 0;
    if (kind != Kind::l2) return true;
    return std::ranges::none_of(topology.cores, [&](const TopologyObject& core) {
        return core.cpus == object.cpus;
    });
}

void add_level(
    std::vector<TopologyNode>& nodes, Kind kind, std::span<const TopologyObject> objects,
    const HostTopology& topology
) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (!is_worth_drawing(kind, objects[i], topology)) continue;
        TopologyNode node;
        node.kind = kind;
        node.index = i;
        node.cpus = objects[i].cpus;
        node.size_bytes = objects[i].size_bytes;
        node.core_kind = objects[i].kind;
        nodes.push_back(std::move(node));
    }
}

bool holds(const TopologyNode& outer, const std::vector<std::uint32_t>& cpus) {
    return !cpus.empty() && std::ranges::includes(outer.cpus, cpus);
}

/// The smallest that holds the cpus, of the kinds down to `last`: levels come from the outside in,
/// each disjoint.
TopologyNode& innermost(TopologyNode& node, const std::vector<std::uint32_t>& cpus, Kind last) {
    for (TopologyNode& child : node.children) {
        if (child.kind <= last && holds(child, cpus)) return innermost(child, cpus, last);
    }
    return node;
}

/// By the place of its first cpu, whatever kind each child is of.
void sort_children(TopologyNode& node, const std::map<std::uint32_t, std::size_t>& place_of_cpu) {
    const auto place = [&](const TopologyNode& child) {
        std::size_t first = place_of_cpu.size();
        for (const std::uint32_t cpu : child.cpus) first = std::min(first, place_of_cpu.at(cpu));
        return first;
    };
    std::ranges::stable_sort(node.children, {}, place);
    for (TopologyNode& child : node.children) sort_children(child, place_of_cpu);
}

}  // namespace

TopologyNode build_topology_tree(const HostTopology& topology) {
    TopologyNode host;
    std::map<std::uint32_t, std::size_t> place_of_cpu;
    for (const TopologyObject& thread : topology.hwthreads) {
        for (const std::uint32_t cpu : thread.cpus) place_of_cpu.emplace(cpu, place_of_cpu.size());
    }
    for (const auto& [cpu, place] : place_of_cpu) host.cpus.push_back(cpu);
    std::vector<TopologyNode> nodes;
    add_level(nodes, Kind::package, topology.packages, topology);
    add_level(nodes, Kind::numa, topology.numas, topology);
    add_level(nodes, Kind::l3, topology.l3s, topology);
    add_level(nodes, Kind::l2, topology.l2s, topology);
    add_level(nodes, Kind::core, topology.cores, topology);
    // The larger first, so that what holds it is there already.
    std::ranges::stable_sort(nodes, std::ranges::greater{}, [](const TopologyNode& node) {
        return node.kind == Kind::core ? 0 : node.cpus.size();
    });
    for (TopologyNode& node : nodes) {
        innermost(host, node.cpus, Kind::l2).children.push_back(std::move(node));
    }
    sort_children(host, place_of_cpu);
    for (std::size_t i = 0; i < topology.devices.size(); ++i) {
        // Devices hang on memory, not on caches.
        innermost(host, topology.devices[i].near_cpus, Kind::numa).devices.push_back(i);
    }
    return host;
}

std::string label_of(const TopologyNode& node) {
    std::string label = fmt::format("{} {}", word_of(node.kind), node.index);
    if (node.size_bytes != 0) label += fmt::format(" ({})", size_words(node.size_bytes));
    return label;
}

std::string label_of(const TopologyDevice& device) {
    std::string label = device.kind == TopologyDevice::Kind::gpu       ? "gpu "
                        : device.kind == TopologyDevice::Kind::network ? "network "
                                                                       : "device ";
    label += device.name;
    if (!device.detail.empty()) label += fmt::format(" ({})", device.detail);
    return label;
}

std::string summary_of(const std::string& host_name, const HostTopology& topology) {
    std::string text = host_name + ": ";
    if (!topology.cpu_model.empty()) text += topology.cpu_model + ", ";
    return text + fmt::format(
                      "{}, {}, {}, {}", counted(topology.packages.size(), "package"),
                      counted(topology.numas.size(), "NUMA node"),
                      counted(topology.cores.size(), "core"),
                      counted(topology.hwthreads.size(), "usable cpu")
                  );
}

RanksByCpu ranks_by_cpu(const Placement& placement, std::uint32_t host_index) {
    RanksByCpu by_cpu;
    for (std::uint32_t rank = 0; rank < placement.size(); ++rank) {
        if (placement.ranks[rank].host_index != host_index) continue;
        for (const std::uint32_t cpu : placement.ranks[rank].cpus) by_cpu[cpu].push_back(rank);
    }
    return by_cpu;
}

std::string rank_words(const std::vector<std::uint32_t>& ranks) {
    if (ranks.empty()) return "";
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", format_cpu_list(ranks));
}

}  // namespace dlrt::launcher
