// SPDX-License-Identifier: Apache-2.0
/// Hosts and the ranks on them as one SVG document: boxes in boxes, each hardware thread in the
/// colour of the rank that is bound to it. Pure.
#pragma once

#include "launcher/placement.hpp"
#include "launcher/topology.hpp"
#include "launcher/topology_text.hpp"

#include <string>
#include <vector>

namespace dlrt::launcher {

/// `topologies` belong to the placement's hosts.
[[nodiscard]] std::string draw_topology_svg(
    const Placement& placement, const std::vector<HostTopology>& topologies, RankMarks marks
);

}  // namespace dlrt::launcher
