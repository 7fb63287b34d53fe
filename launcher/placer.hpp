// SPDX-License-Identifier: Apache-2.0
/// From the command line, the hosts' slots and what the hosts offer to the placement of all ranks:
/// first the mapping to hosts and objects, then the binding to cpus. Pure.
#pragma once

#include "launcher/allocation.hpp"
#include "launcher/options.hpp"
#include "launcher/placement.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

/// What a host's daemon has found.
struct HostOffer {
    HostTopology topology;
    std::vector<std::uint32_t> cpus;  ///< Ranks may be bound to these; empty: don't bind.
    std::uint32_t usable_cpu_count = 1;
    std::uint32_t busy_cpu_count = 0;  ///< Not in `cpus`: other jobs of this user hold them.
    std::string unbound_reason;        ///< Why `cpus` is empty.
};

/// `offers` are by host of the allocation; one that nobody asked has none.
/// Errors: Errc::argument with what to print.
[[nodiscard]] Result<Placement> place_ranks(
    const Options& options, const Allocation& allocation,
    std::span<const std::optional<HostOffer>> offers
);

}  // namespace dlrt::launcher
