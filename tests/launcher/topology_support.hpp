// SPDX-License-Identifier: Apache-2.0
/// Hosts for tests, from hwloc's own generator or as lstopo recorded them, and their levels as
/// text.
#pragma once

#include "launcher/topology.hpp"
#include "launcher/topology_hwloc.hpp"
#include "runtime/base/error_text.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::launcher {

using UsableList = std::optional<std::vector<std::uint32_t>>;

inline HostTopology made_up_host(const std::string& description, UsableList usable = {}) {
    TopologyQuestion question{TopologyDetail::full, std::move(usable), "", description};
    Result<HostTopology> topology = read_hwloc_topology(question);
    INFO(last_error_text());
    REQUIRE(topology.has_value());
    return std::move(*topology);
}

#ifdef DLRT_TOPOLOGY_FOLDER
constexpr const char* topology_folder = DLRT_TOPOLOGY_FOLDER;
#else
constexpr const char* topology_folder = ".";
#endif

inline HostTopology recorded_host(const std::string& name, UsableList usable = {}) {
    const std::string file = std::string(topology_folder) + "/" + name + ".xml";
    TopologyQuestion question{TopologyDetail::devices, std::move(usable), file, ""};
    Result<HostTopology> topology = read_hwloc_topology(question);
    INFO(last_error_text());
    REQUIRE(topology.has_value());
    return std::move(*topology);
}

/// "0-3 4-7": the cpus of each object.
inline std::string cpus_of(std::span<const TopologyObject> objects) {
    std::string text;
    for (const TopologyObject& object : objects) {
        if (!text.empty()) text += ' ';
        text += format_cpu_list(object.cpus);
    }
    return text;
}

}  // namespace dlrt::launcher
