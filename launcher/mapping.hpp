// SPDX-License-Identifier: Apache-2.0
/// Which rank goes to which host, and to which object of it. Pure; knows nothing of cpus.
///
/// Slot fills one host after the other, host goes round them; both begin again, beyond the slots,
/// where that is allowed. Object goes round a host's objects while filling it as slot does. Ppr
/// puts a fixed number on every object (or host). Sequential follows the list's lines.
#pragma once

#include "launcher/options.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

inline constexpr std::uint32_t job_rank_count_max = 1u << 20;

/// What mapping must know of a host.
struct MappableHost {
    std::string name;
    std::uint32_t slots = 1;
    bool has_explicit_slots = false;
    std::optional<std::uint32_t> max_slots;
    /// The objects that have usable cpus, of the level that ranks are mapped to; else empty.
    std::vector<std::uint32_t> objects;
};

struct MappingRequest {
    std::optional<std::uint32_t> rank_count;      ///< Nothing: as many as the rest makes.
    std::optional<std::uint32_t> ranks_per_host;  ///< --ppn.
    MappingChoice choice;
    std::optional<Ranking> ranking;
    Oversubscription oversubscription = Oversubscription::by_rule;
    std::vector<std::uint32_t> mentions;  ///< Host by line of the list; only sequential needs it.
};

struct MappedRank {
    std::uint32_t host_index = 0;
    std::uint32_t slot = 0;               ///< Counts the host's ranks in the order of mapping.
    std::optional<std::uint32_t> object;  ///< Its number within its level.
    friend bool operator==(const MappedRank&, const MappedRank&) = default;
};

/// By world rank. REQUIRES: hosts isn't empty; mentions are below its size.
/// Errors: Errc::argument. Where slots are too few, a table of the hosts follows the first line.
[[nodiscard]] Result<std::vector<MappedRank>> map_ranks(
    const MappingRequest& request, std::span<const MappableHost> hosts
);

/// As the command line spells it.
[[nodiscard]] std::string_view level_name(TopologyLevel level);

}  // namespace dlrt::launcher
