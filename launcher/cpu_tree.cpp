// SPDX-License-Identifier: Apache-2.0
#include "launcher/cpu_tree.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace dlrt::launcher {
namespace {

using Units = std::vector<CpuList>;

CpuList joined(std::span<const CpuList> units) {
    CpuList cpus;
    for (const CpuList& unit : units) cpus.insert(cpus.end(), unit.begin(), unit.end());
    std::ranges::sort(cpus);
    return cpus;
}

std::size_t cpu_count_of(const Units& units) {
    std::size_t count = 0;
    for (const CpuList& unit : units) count += unit.size();
    return count;
}

/// With fewer ranks than nodes: cuts between whole nodes, each next to where an even cut would be.
std::vector<CpuList> shares_of_whole_nodes(std::span<const Units> nodes, std::size_t rank_count) {
    std::vector<std::size_t> borders = {0};
    for (const Units& node : nodes) borders.push_back(borders.back() + node.size());
    std::vector<CpuList> shares;
    std::size_t begin = 0;
    for (std::size_t rank = 1; rank <= rank_count; ++rank) {
        const std::size_t ideal_times_count = borders.back() * rank;
        // Every rank after this one needs a node too.
        const std::size_t last = nodes.size() - (rank_count - rank);
        std::size_t end = begin + 1;
        const auto distance = [&](std::size_t node) {
            const std::size_t border = borders[node] * rank_count;
            return border > ideal_times_count ? border - ideal_times_count
                                              : ideal_times_count - border;
        };
        while (end < last && distance(end + 1) < distance(end)) ++end;
        if (rank == rank_count) end = nodes.size();
        CpuList& share = shares.emplace_back();
        for (std::size_t node = begin; node < end; ++node) {
            const CpuList cpus = joined(nodes[node]);
            share.insert(share.end(), cpus.begin(), cpus.end());
        }
        std::ranges::sort(share);
        begin = end;
    }
    return shares;
}

/// Takes units from the front until `cpu_count` cpus are there, and only so many of the last one.
CpuList take_cpus(std::span<Units> nodes, std::size_t cpu_count) {
    CpuList cpus;
    for (Units& node : nodes) {
        auto unit = node.begin();
        for (; unit != node.end() && cpus.size() < cpu_count; ++unit) {
            const std::size_t missing = cpu_count - cpus.size();
            const auto count = static_cast<std::ptrdiff_t>(std::min(missing, unit->size()));
            cpus.insert(cpus.end(), unit->begin(), unit->begin() + count);
        }
        node.erase(node.begin(), unit);
    }
    std::ranges::sort(cpus);
    return cpus;
}

std::optional<std::vector<CpuList>> pack(
    std::vector<Units> nodes, std::size_t rank_count, std::size_t cpu_count
) {
    std::vector<CpuList> shares;
    for (Units& node : nodes) {
        while (shares.size() < rank_count && cpu_count_of(node) >= cpu_count) {
            shares.push_back(take_cpus(std::span(&node, 1), cpu_count));
        }
    }
    while (shares.size() < rank_count) {
        CpuList cpus = take_cpus(nodes, cpu_count);
        if (cpus.size() < cpu_count) return {};
        shares.push_back(std::move(cpus));
    }
    return shares;
}

/// The same for whole cores, whatever the number of their cpus.
std::optional<std::vector<CpuList>> pack_units(
    std::vector<Units> nodes, std::size_t rank_count, std::size_t unit_count
) {
    std::vector<CpuList> shares;
    Units left;
    for (Units& node : nodes) {
        std::size_t begin = 0;
        while (shares.size() < rank_count && node.size() - begin >= unit_count) {
            shares.push_back(joined(std::span(node).subspan(begin, unit_count)));
            begin += unit_count;
        }
        left.insert(left.end(), node.begin() + static_cast<std::ptrdiff_t>(begin), node.end());
    }
    std::size_t begin = 0;
    for (; shares.size() < rank_count; begin += unit_count) {
        if (left.size() - begin < unit_count) return {};
        shares.push_back(joined(std::span(left).subspan(begin, unit_count)));
    }
    return shares;
}

}  // namespace

CpuTree::CpuTree(const HostTopology& topology, std::span<const std::uint32_t> cpus) {
    std::set<std::uint32_t> left(cpus.begin(), cpus.end());
    const auto take = [&](std::span<const std::uint32_t> wanted) {
        CpuList taken;
        for (const std::uint32_t cpu : wanted) {
            if (left.erase(cpu) > 0) taken.push_back(cpu);
        }
        return taken;
    };
    // A core is taken up to the NUMA node's border, should it ever cross one.
    const auto add_node = [&](std::span<const std::uint32_t> cpus_of_node) {
        Node node;
        const std::set<std::uint32_t> members(cpus_of_node.begin(), cpus_of_node.end());
        for (const TopologyObject& core : topology.cores) {
            CpuList inside;
            std::ranges::copy_if(core.cpus, std::back_inserter(inside), [&](std::uint32_t cpu) {
                return members.contains(cpu);
            });
            if (Core taken = take(inside); !taken.empty()) node.push_back(std::move(taken));
        }
        for (const std::uint32_t cpu : cpus_of_node) {
            if (Core taken = take(std::span(&cpu, 1)); !taken.empty()) {
                node.push_back(std::move(taken));
            }
        }
        if (!node.empty()) nodes_.push_back(std::move(node));
    };
    for (const TopologyObject& numa : topology.numas) add_node(numa.cpus);
    add_node(CpuList(left.begin(), left.end()));
}

std::size_t CpuTree::cpu_count() const noexcept {
    std::size_t count = 0;
    for (const Node& node : nodes_) count += cpu_count_of(node);
    return count;
}

std::size_t CpuTree::core_count() const noexcept {
    std::size_t count = 0;
    for (const Node& node : nodes_) count += node.size();
    return count;
}

CpuTree CpuTree::within(std::span<const std::uint32_t> cpus) const {
    const std::set<std::uint32_t> members(cpus.begin(), cpus.end());
    CpuTree tree;
    for (const Node& node : nodes_) {
        Node kept;
        for (const Core& core : node) {
            Core part;
            std::ranges::copy_if(core, std::back_inserter(part), [&](std::uint32_t cpu) {
                return members.contains(cpu);
            });
            if (!part.empty()) kept.push_back(std::move(part));
        }
        if (!kept.empty()) tree.nodes_.push_back(std::move(kept));
    }
    return tree;
}

std::vector<CpuTree::Node> CpuTree::units(ShareUnit unit) const {
    if (unit == ShareUnit::core) return nodes_;
    std::vector<Node> nodes;
    for (const Node& node : nodes_) {
        Node& cpus = nodes.emplace_back();
        for (const Core& core : node) {
            for (const std::uint32_t cpu : core) cpus.push_back({cpu});
        }
    }
    return nodes;
}

std::vector<CpuList> CpuTree::even_shares(std::size_t rank_count) const {
    if (rank_count == 0 || rank_count > cpu_count()) return {};
    const std::vector<Node> nodes = units(
        rank_count <= core_count() ? ShareUnit::core : ShareUnit::cpu
    );
    if (rank_count < nodes.size()) return shares_of_whole_nodes(nodes, rank_count);
    std::vector<std::size_t> sizes;
    for (const Node& node : nodes) sizes.push_back(node.size());
    const std::vector<std::size_t> counts = ranks_by_group(sizes, rank_count);
    std::vector<CpuList> shares;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (std::size_t rank = 0; rank < counts[i]; ++rank) {
            const std::size_t begin = sizes[i] * rank / counts[i];
            const std::size_t end = sizes[i] * (rank + 1) / counts[i];
            shares.push_back(joined(std::span(nodes[i]).subspan(begin, end - begin)));
        }
    }
    return shares;
}

std::optional<std::vector<CpuList>> CpuTree::fixed_shares(
    std::size_t rank_count, std::size_t unit_count, ShareUnit unit
) const {
    if (unit == ShareUnit::core) return pack_units(nodes_, rank_count, unit_count);
    auto shares = pack(nodes_, rank_count, unit_count);
    return shares ? shares : pack(units(ShareUnit::cpu), rank_count, unit_count);
}

std::vector<std::size_t> ranks_by_group(
    std::span<const std::size_t> sizes, std::size_t rank_count
) {
    std::vector<std::size_t> counts(sizes.size(), 0);
    for (std::size_t rank = 0; rank < rank_count; ++rank) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < sizes.size(); ++i) {
            // sizes[i] / (counts[i] + 1) > sizes[best] / (counts[best] + 1), in whole numbers.
            if (sizes[i] * (counts[best] + 1) > sizes[best] * (counts[i] + 1)) best = i;
        }
        ++counts[best];
    }
    return counts;
}

std::vector<std::uint32_t> usable_objects(
    std::span<const TopologyObject> objects, std::span<const std::uint32_t> cpus
) {
    std::set<std::uint32_t> left(cpus.begin(), cpus.end());
    if (cpus.empty()) {
        for (const TopologyObject& object : objects) {
            left.insert(object.cpus.begin(), object.cpus.end());
        }
    }
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < objects.size(); ++i) {
        std::size_t taken = 0;
        for (const std::uint32_t cpu : objects[i].cpus) taken += left.erase(cpu);
        if (taken > 0) numbers.push_back(i);
    }
    return numbers;
}

CpuList common_cpus(std::span<const std::uint32_t> some, std::span<const std::uint32_t> others) {
    const std::set<std::uint32_t> members(others.begin(), others.end());
    CpuList result;
    std::ranges::copy_if(some, std::back_inserter(result), [&](std::uint32_t cpu) {
        return members.contains(cpu);
    });
    std::ranges::sort(result);
    return result;
}

}  // namespace dlrt::launcher
