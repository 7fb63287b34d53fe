// SPDX-License-Identifier: Apache-2.0
#include "launcher/placement.hpp"

#include <utility>

namespace dlrt::launcher {

JobMap Placement::job_map(std::string job_id) const {
    JobMap map;
    map.job_id = std::move(job_id);
    for (const PlacedHost& host : hosts) map.hosts.push_back({host.name, host.usable_cpu_count});
    for (const PlacedRank& rank : ranks) {
        map.ranks.push_back({rank.host_index, rank.local_rank, rank.block_index, rank.cpus});
    }
    return map;
}

}  // namespace dlrt::launcher
