// SPDX-License-Identifier: Apache-2.0
/// What a user says about algorithms: DLRT_ALGO="allreduce:ring@1m-,^tree;bcast:binomial". Pure.
///
/// An item names an algorithm for a range of sizes of the whole vector; with ^ it excludes one. The
/// first item without ^ that covers a size decides, unless its reductions must commute and the
/// user's doesn't. Otherwise the table of selection.hpp decides, unless its choice is excluded;
/// then it is the first of the list of algorithms that isn't. For a reduction that doesn't commute
/// exclusions count as long as they leave an algorithm that keeps the order.
#pragma once

#include "collectives/selection.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/size_range.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace dlrt::coll {

struct AlgorithmRule {
    const Algorithm* algorithm = nullptr;  ///< And so the collective.
    SizeRange sizes;
    bool is_excluded = false;
};

/// Errors: Errc::argument with what is wrong and what is valid: unknown names, what is no range,
/// and exclusions that leave no algorithm at some size.
[[nodiscard]] Result<std::vector<AlgorithmRule>> parse_algorithm_rules(std::string_view text);

struct Choice {
    enum class Reason : std::uint8_t { rule, table, exclusion };
    const Algorithm* algorithm = nullptr;
    Reason reason = Reason::table;
};

/// REQUIRES: the rules come from parse_algorithm_rules().
[[nodiscard]] Choice choose_algorithm(
    const Operation& operation, std::span<const AlgorithmRule> rules
);

}  // namespace dlrt::coll
