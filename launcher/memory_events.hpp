// SPDX-License-Identifier: Apache-2.0
/// Whether the kernel killed a process for want of memory: what its counters say before and after.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dlrt::launcher {

struct MemoryEvents {
    std::string group;  ///< The memory cgroup of the calling process; "" when there is none.
    std::optional<std::uint64_t> group_kills;
    std::optional<std::uint64_t> host_kills;
    std::uint64_t limit_bytes = 0;  ///< The lowest from the group up to the root; 0: none.
    friend bool operator==(const MemoryEvents&, const MemoryEvents&) = default;
};

/// cgroup v2 or v1. `root` stands in for "/" (tests make one up).
[[nodiscard]] MemoryEvents read_memory_events(const std::string& root);

/// For a process that died by KILL in between: "likely because memory ran out (limit 64 MiB of
/// cgroup /job)"; empty when nothing speaks for that.
[[nodiscard]] std::string out_of_memory_remark(
    const MemoryEvents& before, const MemoryEvents& after
);

/// The number after `name` in lines of "name number", with a blank or a tab between.
[[nodiscard]] std::optional<std::uint64_t> find_counter(
    std::string_view text, std::string_view name
);

}  // namespace dlrt::launcher
