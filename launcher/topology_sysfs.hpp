// SPDX-License-Identifier: Apache-2.0
/// A host's topology of quick detail from the kernel's files: a few of them where there is one
/// thread a core, one for each core besides where there are more. Cheap enough for every job.
#pragma once

#include "launcher/topology.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace dlrt::launcher {

/// `root` stands in for "/" (tests make one up). What can't be read counts as one object.
[[nodiscard]] HostTopology read_quick_topology(
    const std::string& root, std::span<const std::uint32_t> usable_cpus
);

/// Of a NUMA node that is there. Where the kernel doesn't say, it has.
[[nodiscard]] bool has_memory(const std::string& root, std::uint32_t numa_os_index);

}  // namespace dlrt::launcher
