// SPDX-License-Identifier: Apache-2.0
/// How the daemon looks at its host: quickly by itself, or closely through the program
/// dlrt-topology beside it, which is loaded and waited for only then.
#pragma once

#include "launcher/topology.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <span>

namespace dlrt::launcher {

/// Blocks, for 30 s at most. Errors: Errc::system with the cause, whatever it was.
[[nodiscard]] Result<HostTopology> discover_topology(
    TopologyDetail detail, std::span<const std::uint32_t> usable_cpus
);

}  // namespace dlrt::launcher
