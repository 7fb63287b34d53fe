// SPDX-License-Identifier: Apache-2.0
/// Which memory a rank uses: the kernel's policy that its process starts with, from the NUMA nodes
/// of its cpus.
#pragma once

#include "runtime/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

enum class MemoryBinding : std::uint8_t {
    first_touch,  ///< The kernel's own way, or what dlrun itself was started with.
    local,        ///< Only the NUMA nodes of the rank's cpus.
    interleave,   ///< Page by page over the NUMA nodes of the rank's cpus.
};

/// As set_mempolicy() wants it.
struct MemoryPolicy {
    int mode = 0;                      ///< MPOL_…
    std::vector<unsigned long> nodes;  ///< A bit for each; empty: leave the policy as it is.
    [[nodiscard]] bool is_set() const { return !nodes.empty(); }
    /// One more than the bits, which the kernel takes off again.
    [[nodiscard]] unsigned long node_limit() const {
        return nodes.size() * sizeof(unsigned long) * 8 + 1;
    }
    friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

/// `root` stands in for "/" (tests make one up). Errors: Errc::argument where no node of these cpus
/// has memory.
[[nodiscard]] Result<MemoryPolicy> memory_policy_of(
    MemoryBinding binding, std::span<const std::uint32_t> cpus, const std::string& root
);

}  // namespace dlrt::launcher
