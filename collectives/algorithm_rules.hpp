// SPDX-License-Identifier: Apache-2.0
/// What a user says about algorithms: DLRT_ALGO="allreduce:ring@1m-,^tree;bcast:binomial". Pure.
///
/// An item names an algorithm for a range of sizes of the whole vector; with ^ it excludes one. The
/// first item without ^ that covers a size decides, unless its reductions must commute and the
/// user's doesn't, or it asks for other groups than the ranks are in. Otherwise measured rules
/// decide, or else the table of selection.hpp, unless their choice is excluded; then it is the
/// first of the list of algorithms that isn't. For a reduction that doesn't commute exclusions
/// count as long as they leave an algorithm that keeps the order.
#pragma once

#include "collectives/selection.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/size_range.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
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

/// What was measured best: for so many ranks and bytes this algorithm.
struct TunedRule {
    const Algorithm* algorithm = nullptr;  ///< And so the collective.
    std::int32_t ranks_min = 1;
    std::int32_t ranks_max = std::numeric_limits<std::int32_t>::max();
    SizeRange sizes;
    friend bool operator==(const TunedRule&, const TunedRule&) = default;
};

/// All that the ranks of a job agree on beforehand.
struct Preferences {
    std::vector<AlgorithmRule> rules;  ///< From parse_algorithm_rules().
    std::vector<TunedRule> tuned;      ///< The first that applies counts.
    bool is_deterministic = false;     ///< Only algorithms for which is_fixed().

    /// Whether they leave everything to the built-in rules.
    [[nodiscard]] bool empty() const { return rules.empty() && tuned.empty() && !is_deterministic; }
};

struct Choice {
    enum class Reason : std::uint8_t {
        rule,
        table,      ///< The built-in one.
        exclusion,  ///< What it says is excluded.
        tuned,
        fixed  ///< As table, among algorithms for which is_fixed().
    };
    const Algorithm* algorithm = nullptr;
    Reason reason = Reason::table;
    /// What a rule names, but ranks are in no such groups as it needs.
    const Algorithm* without_groups = nullptr;
};

/// By rules, else tuned rules, else the built-in ones.
[[nodiscard]] Choice choose_algorithm(const Operation& operation, const Preferences& preferences);

/// The same where ranks have lists of counts. They don't know each other's sizes, so of the user's
/// rules only those for all sizes count, and measured ones don't.
[[nodiscard]] Choice choose_for_uneven_blocks(
    Collective collective, std::int32_t size, std::span<const AlgorithmRule> rules
);

/// A rule, or exclusions, that leave no algorithm for which is_fixed(), as a clause for a message;
/// empty when there are none.
[[nodiscard]] std::string contradiction_of(std::span<const AlgorithmRule> rules);

}  // namespace dlrt::coll
