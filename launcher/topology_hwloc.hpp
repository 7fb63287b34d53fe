// SPDX-License-Identifier: Apache-2.0
/// A host's topology by hwloc, of full detail or with devices. The only file that knows hwloc.
/// hwloc may start threads and load drivers, so it runs in a process of its own
/// (topology_helper.cpp).
#pragma once

#include "launcher/topology.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct TopologyQuestion {
    TopologyDetail detail = TopologyDetail::full;
    /// Nothing: all that are there.
    std::optional<std::vector<std::uint32_t>> usable_cpus;
    std::string xml_file;   ///< Another host's, as lstopo writes it; empty: this host.
    std::string synthetic;  ///< Or hwloc's description of a made-up one: "package:2 core:4".
};

/// Errors: Errc::argument for a file or description that hwloc doesn't understand, Errc::system.
[[nodiscard]] Result<HostTopology> read_hwloc_topology(const TopologyQuestion& question);

}  // namespace dlrt::launcher
