// SPDX-License-Identifier: Apache-2.0
/// Hosts and the ranks on them as text: an indented tree, in which neighbouring cores that are
/// alike share a line, and one line for each rank. Pure.
#pragma once

#include "launcher/options.hpp"
#include "launcher/placement.hpp"
#include "launcher/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt::launcher {

enum class RankMarks : std::uint8_t { none, drawn };

/// Of one host of the placement; each line ends with a newline.
[[nodiscard]] std::string draw_topology_text(
    const HostTopology& topology, const Placement& placement, std::uint32_t host_index,
    RankMarks marks
);

/// Where a rank runs, for people and scripts: "rank 3 on node1: package 0 cores 4-7 (cpus
/// 4-7,20-23)", or "not bound" and why. `topologies` belong to the placement's hosts.
[[nodiscard]] std::vector<std::string> binding_lines(
    const Placement& placement, const std::vector<HostTopology>& topologies,
    MemoryBinding memory_binding
);

}  // namespace dlrt::launcher
