// SPDX-License-Identifier: Apache-2.0
/// What the user says about collectives, the same on every rank of a job. A value.
#pragma once

#include "collectives/algorithm_rules.hpp"
#include "runtime/base/config.hpp"

#include <vector>

namespace dlrt {

struct CollectiveSettings {
    std::vector<coll::AlgorithmRule> rules;  ///< DLRT_ALGO
    bool is_explaining = false;              ///< DLRT_EXPLAIN
};

/// Errors: Errc::argument naming DLRT_ALGO.
[[nodiscard]] Result<CollectiveSettings> collective_settings(const Settings& settings);

}  // namespace dlrt
