// SPDX-License-Identifier: Apache-2.0
/// Hosts and the ranks on them as JSON, for scripts. Pure.
#pragma once

#include "launcher/options.hpp"
#include "launcher/placement.hpp"
#include "launcher/topology.hpp"

#include <string>
#include <vector>

namespace dlrt::launcher {

/// One object with "hosts"; in each what `display` asks for: "allocation", "topology",
/// "binding"; beside it "map" by rank.
/// `topologies` belong to the placement's hosts. Ends with a newline.
[[nodiscard]] std::string draw_topology_json(
    const Placement& placement, const std::vector<HostTopology>& topologies, const Display& display
);

}  // namespace dlrt::launcher
