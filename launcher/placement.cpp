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

std::vector<std::uint32_t> even_share(
    std::span<const std::uint32_t> cpus, std::uint32_t index, std::uint32_t count
) {
    if (count > cpus.size()) return {};
    const std::size_t begin = cpus.size() * index / count;
    const std::size_t end = cpus.size() * (index + 1) / count;
    return {
        cpus.begin() + static_cast<std::ptrdiff_t>(begin),
        cpus.begin() + static_cast<std::ptrdiff_t>(end)};
}

JobMap place_ranks(
    std::string job_id, std::span<const HostOffer> hosts, std::span<const std::uint32_t> block_sizes
) {
    JobMap map;
    map.job_id = std::move(job_id);
    std::uint32_t block_index = 0;
    std::uint32_t left_in_block = block_sizes.empty() ? 0 : block_sizes[0];
    for (std::uint32_t host_index = 0; host_index < hosts.size(); ++host_index) {
        const HostOffer& host = hosts[host_index];
        map.hosts.push_back({host.name, host.usable_cpu_count});
        for (std::uint32_t local_rank = 0; local_rank < host.rank_count; ++local_rank) {
            while (left_in_block == 0 && block_index + 1 < block_sizes.size()) {
                left_in_block = block_sizes[++block_index];
            }
            --left_in_block;
            map.ranks.push_back(
                {host_index, local_rank, block_index,
                 even_share(host.cpus, local_rank, host.rank_count)}
            );
        }
    }
    return map;
}

}  // namespace dlrt::launcher
