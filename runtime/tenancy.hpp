// SPDX-License-Identifier: Apache-2.0
/// Who else wants this rank's cpus, read from the host segment. Pure.
#pragma once

#include "runtime/wait_budget.hpp"
#include "runtime/wireup/host_segment.hpp"

#include <cstdint>
#include <span>

namespace dlrt {

/// `affinity`: the cpus that this rank may run on. `is_bound`: whether the table counts it on those
/// cpus or among the unbound ones.
[[nodiscard]] Tenancy find_tenancy(
    const TenancyTable& table, std::uint32_t host_cpu_count,
    std::span<const std::uint32_t> affinity, bool is_bound
);

}  // namespace dlrt
