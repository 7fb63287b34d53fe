// SPDX-License-Identifier: Apache-2.0
/// What dlinfo finds out about this host, section by section, as values. One thread.
#pragma once

#include "runtime/base/config.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::info {

struct Transport {
    std::string_view name;
    bool is_used = false;
    std::string reason;  ///< Why it is used, or why not.
};
/// Tries what has to be tried: it forks once.
[[nodiscard]] std::vector<Transport> find_transports(const Settings& settings);

struct Limit {
    std::string_view name;
    std::string value;
    std::string meaning;     ///< What it allows a job on this host.
    bool will_bite = false;  ///< Sooner than most jobs like.
};
[[nodiscard]] std::vector<Limit> find_limits(
    std::uint32_t usable_cpu_count, std::uint64_t heap_limit_bytes
);

}  // namespace dlrt::info
