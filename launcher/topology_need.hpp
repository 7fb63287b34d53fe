// SPDX-License-Identifier: Apache-2.0
/// How closely a host must be looked at for a command line. Pure.
#pragma once

#include "launcher/options.hpp"
#include "launcher/topology.hpp"

namespace dlrt::launcher {

[[nodiscard]] TopologyDetail detail_needed(const Options& options);

}  // namespace dlrt::launcher
