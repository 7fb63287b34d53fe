// SPDX-License-Identifier: Apache-2.0
/// What --display, --report-bindings and a dry run show, in the format that was asked for. Pure.
#pragma once

#include "launcher/options.hpp"
#include "launcher/placement.hpp"
#include "launcher/topology.hpp"

#include <string>
#include <vector>

namespace dlrt::launcher {

/// Whole lines; empty when nothing is asked for. A dry run that asks for nothing shows map and
/// binding. `topologies` belong to the placement's hosts.
[[nodiscard]] std::string render_display(
    const Options& options, const Placement& placement, const std::vector<HostTopology>& topologies
);

}  // namespace dlrt::launcher
