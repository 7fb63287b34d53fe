// SPDX-License-Identifier: Apache-2.0
/// Counting tenants.
#include "runtime/tenancy.hpp"

#include <algorithm>

namespace dlrt {

Tenancy find_tenancy(
    const TenancyTable& table, std::uint32_t host_cpu_count,
    std::span<const std::uint32_t> affinity, bool is_bound
) {
    std::uint32_t most_on_one = 0;
    std::uint32_t sum = 0;
    for (const std::uint32_t cpu : affinity) {
        if (cpu >= cpu_count_max) continue;
        const std::uint32_t tenants = table.tenants[cpu].load(std::memory_order_relaxed);
        most_on_one = std::max(most_on_one, tenants);
        sum += tenants;
    }
    const std::uint32_t unbound = table.unbound_ranks.load(std::memory_order_relaxed);
    const std::uint32_t host_cpus = std::max(host_cpu_count, 1U);
    const auto own_cpus = static_cast<std::uint32_t>(affinity.size());
    Tenancy tenancy;
    tenancy.usable_cpu_count = std::clamp(own_cpus, 1U, host_cpus);
    // Ranks bound to the same cpus are counted on each of them; floating ones spread evenly.
    const std::uint32_t share = std::min(
        (unbound * tenancy.usable_cpu_count + host_cpus - 1) / host_cpus, unbound
    );
    tenancy.ranks_on_cpus = std::max(is_bound ? most_on_one + share : unbound + sum, 1U);
    return tenancy;
}

}  // namespace dlrt
