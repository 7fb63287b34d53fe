// SPDX-License-Identifier: Apache-2.0
/// A host's topology as the tree that pictures are drawn from: what holds what, devices beside
/// the cpus they are near to, ranks on their cores. Pure.
#pragma once

#include "launcher/placement.hpp"
#include "launcher/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct TopologyNode {
    enum class Kind : std::uint8_t { host, package, numa, l3, l2, core };
    Kind kind = Kind::host;
    std::size_t index = 0;  ///< Within its level.
    std::vector<std::uint32_t> cpus;
    std::uint64_t size_bytes = 0;
    std::uint32_t core_kind = 0;
    std::vector<TopologyNode> children;
    std::vector<std::size_t> devices;  ///< Of the topology, that are no nearer to a child.
};

/// Levels that say nothing are left out: a cache that the host doesn't have, one of a single core.
[[nodiscard]] TopologyNode build_topology_tree(const HostTopology& topology);

/// "package 0", "numa 1 (64 GiB)", "l3 0 (32 MiB)".
[[nodiscard]] std::string label_of(const TopologyNode& node);

/// "gpu cuda0 (NVIDIA H100, 0000:11:00.0)".
[[nodiscard]] std::string label_of(const TopologyDevice& device);

/// What a host is in one line: "node1: AMD EPYC, 2 packages, 4 NUMA nodes, 16 cores, 32 cpus".
[[nodiscard]] std::string summary_of(const std::string& host_name, const HostTopology& topology);

/// World ranks by the cpus that they are bound to.
using RanksByCpu = std::map<std::uint32_t, std::vector<std::uint32_t>>;
[[nodiscard]] RanksByCpu ranks_by_cpu(const Placement& placement, std::uint32_t host_index);

/// "rank 3", "ranks 0-3,7"; empty for none.
[[nodiscard]] std::string rank_words(const std::vector<std::uint32_t>& ranks);

}  // namespace dlrt::launcher
