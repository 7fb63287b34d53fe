// SPDX-License-Identifier: Apache-2.0
/// Predicted times of algorithms side by side, and the machine that they are predicted for.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/cost.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::sched {

/// {"latency_ns": 60, "overhead_ns": 40, …}: what a field that is missing stands for is standard.
/// Errors: Errc::argument, naming line or field, but not the file.
[[nodiscard]] Result<coll::Machine> parse_machine(std::string_view text);

struct CostTable {
    struct Row {
        const coll::Algorithm* algorithm = nullptr;
        std::vector<double> times_ns;  ///< By size.
    };
    std::int32_t ranks = 1;
    std::vector<std::uint64_t> sizes_bytes;
    std::vector<const coll::Algorithm*> chosen;  ///< By size: what an operation uses.
    std::vector<Row> rows;
};

/// For people, in microseconds.
[[nodiscard]] std::string cost_text(const CostTable& table);

}  // namespace dlrt::sched
