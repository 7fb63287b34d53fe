// SPDX-License-Identifier: Apache-2.0
/// Which rank runs where, on which cpus, and why not on others. A value: pictures, reports and the
/// job map are made from it.
#pragma once

#include "launcher/topology.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::launcher {

/// One object of a host's topology: objects(level)[index].
struct MappedObject {
    TopologyLevel level = TopologyLevel::core;
    std::uint32_t index = 0;
    friend bool operator==(const MappedObject&, const MappedObject&) = default;
};

struct PlacedRank {
    std::uint32_t host_index = 0;
    std::uint32_t local_rank = 0;   ///< Counts the host's ranks in order of their numbers.
    std::uint32_t block_index = 0;  ///< Which program of the command line it runs.
    std::uint32_t slot = 0;         ///< Of its host; not below the host's slots: oversubscribed.
    std::optional<MappedObject> object;  ///< Where the mapping goes by objects.
    std::vector<std::uint32_t> cpus;     ///< What it is bound to, ascending; empty: unbound.
    friend bool operator==(const PlacedRank&, const PlacedRank&) = default;
};

struct PlacedHost {
    std::string name;
    std::uint32_t slots = 0;
    bool has_explicit_slots = false;         ///< From a list, not from the number of cpus.
    std::optional<std::uint32_t> max_slots;  ///< Never passed.
    std::uint32_t usable_cpu_count = 0;
    std::vector<std::uint32_t> cpus;  ///< Ranks were shared out over these; empty: unbound.
    std::uint32_t rank_count = 0;
    std::string unbound_reason;  ///< Why its ranks are not bound; empty: they are.
    friend bool operator==(const PlacedHost&, const PlacedHost&) = default;
};

struct Placement {
    std::vector<PlacedHost> hosts;       ///< Only those that run ranks.
    std::vector<PlacedHost> idle_hosts;  ///< Of the caller's list, but nothing runs there.
    std::vector<PlacedRank> ranks;       ///< By world rank.
    std::vector<std::string> warnings;
    friend bool operator==(const Placement&, const Placement&) = default;

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ranks.size()); }
    [[nodiscard]] JobMap job_map(std::string job_id) const;
};

}  // namespace dlrt::launcher
