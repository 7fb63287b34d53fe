// SPDX-License-Identifier: Apache-2.0
/// What a command line needs of a host before ranks can be placed: how closely it must be looked
/// at, how many cpus must be free. Pure.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/options.hpp"
#include "launcher/topology.hpp"

#include <cstdint>
#include <optional>

namespace dlrt::launcher {

[[nodiscard]] TopologyDetail detail_needed(const Options& options);

/// How many free cpus the daemon shall see to by asking other jobs to lend some; 0: there are
/// enough, or no number would be. `rank_count` is how many ranks the host will run, where known.
[[nodiscard]] std::uint32_t cpus_to_borrow(
    const Options& options, const HostFacts& facts, std::optional<std::uint32_t> rank_count
);

/// Whether other jobs may have what the ranks' shares can do without.
[[nodiscard]] bool lends_cpus(const Options& options);

}  // namespace dlrt::launcher
