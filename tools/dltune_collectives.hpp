// SPDX-License-Identifier: Apache-2.0
/// Measures the algorithms of collectives in jobs of dlperf. One thread.
#pragma once

#include "runtime/collective_table.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::tune {

struct CollectiveOptions {
    std::vector<std::int32_t> ranks;         ///< Rising; empty: 2, 4, 8.
    std::vector<std::uint64_t> sizes_bytes;  ///< Of a rank's input; rising; empty: 8 to 4 MiB.
    std::string only;                        ///< A collective; empty: all that can be measured.
};

/// By name those that can be measured.
[[nodiscard]] std::vector<std::string_view> measurable_collectives();

/// Starts a job for each algorithm, number of ranks and size, and says on standard error what it is
/// at; takes minutes. Errors: Errc::system, with what the job said on standard error before.
[[nodiscard]] Result<std::vector<AlgorithmSample>> measure_collectives(
    const CollectiveOptions& options
);

}  // namespace dlrt::tune
