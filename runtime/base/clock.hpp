// SPDX-License-Identifier: Apache-2.0
/// Monotonic time.
#pragma once

#include <cstdint>
#include <time.h>

namespace dlrt {

/// CLOCK_MONOTONIC in nanoseconds: comparable between processes of one host.
[[nodiscard]] inline std::uint64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace dlrt
