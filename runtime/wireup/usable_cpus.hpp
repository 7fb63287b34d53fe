// SPDX-License-Identifier: Apache-2.0
/// How many ranks can run at once here: affinity ∩ cpuset, cut by the cgroup's cpu quota (v1 and
/// v2, each level up to the root of the mount).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

struct UsableCpus {
    std::vector<std::uint32_t> cpus;  ///< Those that may be used, ascending.
    std::uint32_t count = 1;          ///< At least 1; less than cpus.size() under a quota.
    /// A quota leaves it to the kernel which cpus are used, and neighbours in other containers
    /// would pick the same ones: ranks are then not bound.
    [[nodiscard]] bool is_quota_limited() const { return count < cpus.size(); }
};

/// Of the calling process.
[[nodiscard]] UsableCpus find_usable_cpus();

/// The same from an affinity and a tree of files: `root` stands in for "/" (tests make one up).
[[nodiscard]] UsableCpus usable_cpus_below(
    const std::string& root, std::vector<std::uint32_t> affinity
);

/// "0-2,7" → 0 1 2 7. Nothing for text that isn't such a list.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

}  // namespace dlrt
