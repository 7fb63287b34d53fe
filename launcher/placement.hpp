// SPDX-License-Identifier: Apache-2.0
/// Which rank runs where. Pure.
///
/// Ranks fill the hosts in order, in the order of the command line's blocks. On each host every
/// rank gets an even, contiguous share of the cpus; nobody is bound where ranks outnumber them.
#pragma once

#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct HostOffer {
    std::string name;
    std::vector<std::uint32_t> cpus;  ///< To bind to, in order of their numbers; empty: don't bind.
    std::uint32_t usable_cpu_count = 1;
    std::uint32_t rank_count = 0;  ///< How many ranks it shall run.
};

/// REQUIRES: the rank counts of hosts and of blocks have the same sum, and it is not 0.
[[nodiscard]] JobMap place_ranks(
    std::string job_id, std::span<const HostOffer> hosts, std::span<const std::uint32_t> block_sizes
);

/// The share of local rank `index` of `count`: sizes differ by one at most, and no two shares
/// overlap. Empty when there are more ranks than cpus.
[[nodiscard]] std::vector<std::uint32_t> even_share(
    std::span<const std::uint32_t> cpus, std::uint32_t index, std::uint32_t count
);

}  // namespace dlrt::launcher
