// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithm_rules.hpp"

#include "collectives/contract.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dlrt::coll {
namespace {

/// Calls `take` for each part between separators; false as soon as it says so.
template<typename Take>
bool for_each_part(std::string_view text, char separator, const Take& take) {
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        if (!take(text.substr(begin, end - begin))) return false;
        begin = end + 1;
    }
    return true;
}

std::string names_of_collectives() {
    std::string names;
    std::string_view last;
    for (const Algorithm& algorithm : algorithms()) {
        const std::string_view name = name_of(algorithm.collective);
        if (name != last) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
        last = name;
    }
    return names;
}

std::string names_of_algorithms(Collective collective) {
    std::string names;
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != collective) continue;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm.name);
    }
    return names;
}

const Algorithm* find_any(std::string_view collective) {
    for (const Algorithm& algorithm : algorithms()) {
        if (name_of(algorithm.collective) == collective) return &algorithm;
    }
    return nullptr;
}

class Parser {
  public:
    /// Adds the rules of "collective:item,item".
    bool take_group(std::string_view group) {
        const std::size_t colon = group.find(':');
        const std::string_view name = group.substr(0, colon);
        const Algorithm* const any = find_any(name);
        if (any == nullptr) {
            return complain("there is no collective '{}'; valid: {}", name, names_of_collectives());
        }
        if (colon == std::string_view::npos) {
            return complain("'{}' names no algorithm; valid: {}:NAME", group, name);
        }
        return for_each_part(group.substr(colon + 1), ',', [&](std::string_view item) {
            return take_item(any->collective, item);
        });
    }

    bool check_exclusions() {
        for (const AlgorithmRule& rule : rules) {
            if (!rule.is_excluded) continue;
            // What is excluded changes only where some range begins.
            if (!leaves_one(rule.algorithm->collective, rule.sizes.begin_bytes)) {
                return complain(
                    "every algorithm of {} is excluded for {} bytes",
                    name_of(rule.algorithm->collective), rule.sizes.begin_bytes
                );
            }
        }
        return true;
    }

    std::vector<AlgorithmRule> rules;
    Status error;

  private:
    template<typename... Args>
    bool complain(fmt::format_string<Args...> format, Args&&... args) {
        error = fail(Errc::argument, format, std::forward<Args>(args)...);
        return false;
    }

    bool take_item(Collective collective, std::string_view item) {
        const std::size_t at = item.find('@');
        std::string_view name = item.substr(0, at);
        AlgorithmRule rule;
        rule.is_excluded = name.starts_with('^');
        if (rule.is_excluded) name.remove_prefix(1);
        rule.algorithm = find_algorithm(collective, name);
        if (rule.algorithm == nullptr) {
            return complain(
                "{} has no algorithm '{}'; valid: {}", name_of(collective), name,
                names_of_algorithms(collective)
            );
        }
        if (at != std::string_view::npos) {
            const auto sizes = parse_size_range(item.substr(at + 1));
            if (!sizes) {
                return complain("'{}' is no range of sizes; valid: 64k-1m", item.substr(at + 1));
            }
            rule.sizes = *sizes;
        }
        rules.push_back(rule);
        return true;
    }

    [[nodiscard]] bool leaves_one(Collective collective, std::uint64_t size_bytes) const {
        return std::ranges::any_of(algorithms(), [&](const Algorithm& algorithm) {
            return algorithm.collective == collective &&
                   algorithm.groups_need == GroupsNeed::none && !is_excluded(algorithm, size_bytes);
        });
    }
    [[nodiscard]] bool is_excluded(const Algorithm& algorithm, std::uint64_t size_bytes) const {
        return std::ranges::any_of(rules, [&](const AlgorithmRule& rule) {
            return rule.is_excluded && rule.algorithm == &algorithm &&
                   rule.sizes.contains(size_bytes);
        });
    }
};

bool keeps_order(const Algorithm& algorithm, const Operation& operation) {
    return operand_order(algorithm, operation.groups) == OperandOrder::by_rank ||
           operation.operand_order == OperandOrder::any;
}

}  // namespace

Result<std::vector<AlgorithmRule>> parse_algorithm_rules(std::string_view text) {
    Parser parser;
    const auto take_group = [&](std::string_view group) { return parser.take_group(group); };
    const bool is_right = for_each_part(text, ';', take_group) && parser.check_exclusions();
    if (!is_right) return parser.error;
    return std::move(parser.rules);
}

Choice choose_algorithm(const Operation& operation, const Preferences& preferences) {
    const std::vector<AlgorithmRule>& rules = preferences.rules;
    const auto covers = [&](const AlgorithmRule& rule) {
        return rule.algorithm->collective == operation.collective &&
               rule.sizes.contains(operation.total_bytes);
    };
    const auto is_excluded = [&](const Algorithm& algorithm) {
        return std::ranges::any_of(rules, [&](const AlgorithmRule& rule) {
            return rule.is_excluded && rule.algorithm == &algorithm && covers(rule);
        });
    };
    const auto is_possible = [&](const Algorithm& algorithm) {
        return keeps_order(algorithm, operation) && is_applicable(algorithm, operation.groups) &&
               (!preferences.is_deterministic || is_fixed(algorithm));
    };
    const Algorithm* without_groups = nullptr;
    for (const AlgorithmRule& rule : rules) {
        if (rule.is_excluded || !covers(rule)) continue;
        if (is_possible(*rule.algorithm)) {
            return {rule.algorithm, Choice::Reason::rule, without_groups};
        }
        const bool has_groups = is_applicable(*rule.algorithm, operation.groups);
        if (!has_groups && without_groups == nullptr) without_groups = rule.algorithm;
    }
    for (const TunedRule& rule : preferences.tuned) {
        const bool applies = rule.algorithm->collective == operation.collective &&
                             rule.ranks_min <= operation.size && operation.size <= rule.ranks_max &&
                             rule.sizes.contains(operation.total_bytes);
        if (!applies || !is_possible(*rule.algorithm) || is_excluded(*rule.algorithm)) continue;
        return {rule.algorithm, Choice::Reason::tuned, without_groups};
    }
    const Algorithm& usual = preferences.is_deterministic ? choose_fixed_algorithm(operation)
                                                          : choose_algorithm(operation);
    const auto reason = preferences.is_deterministic && has_reduction(operation.collective)
                            ? Choice::Reason::fixed
                            : Choice::Reason::table;
    if (!is_excluded(usual)) return {&usual, reason, without_groups};
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != operation.collective || is_excluded(algorithm)) continue;
        if (is_possible(algorithm)) return {&algorithm, Choice::Reason::exclusion, without_groups};
    }
    return {&usual, reason, without_groups};
}

Choice choose_for_uneven_blocks(
    Collective collective, std::int32_t size, std::span<const AlgorithmRule> rules
) {
    const auto counts = [&](const AlgorithmRule& rule) {
        return rule.algorithm->collective == collective && rule.sizes == SizeRange{};
    };
    const auto is_excluded = [&](const Algorithm& algorithm) {
        return std::ranges::any_of(rules, [&](const AlgorithmRule& rule) {
            return rule.is_excluded && counts(rule) && rule.algorithm == &algorithm;
        });
    };
    for (const AlgorithmRule& rule : rules) {
        if (rule.is_excluded || !counts(rule) || !takes_uneven_blocks(*rule.algorithm)) continue;
        return {rule.algorithm, Choice::Reason::rule};
    }
    const Algorithm& usual = choose_for_uneven_blocks(collective, size);
    if (!is_excluded(usual)) return {&usual, Choice::Reason::table};
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != collective || !takes_uneven_blocks(algorithm)) continue;
        if (!is_excluded(algorithm)) return {&algorithm, Choice::Reason::exclusion};
    }
    return {&usual, Choice::Reason::table};
}

std::string contradiction_of(std::span<const AlgorithmRule> rules) {
    const auto names_of_fixed = [](Collective collective) {
        std::string names;
        for (const Algorithm& algorithm : algorithms()) {
            if (algorithm.collective != collective || !is_fixed(algorithm)) continue;
            names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm.name);
        }
        return names;
    };
    for (const AlgorithmRule& rule : rules) {
        const Collective collective = rule.algorithm->collective;
        if (!rule.is_excluded && !is_fixed(*rule.algorithm)) {
            return fmt::format(
                "the bits of {} {} depend on sizes; valid: {}", name_of(collective),
                rule.algorithm->name, names_of_fixed(collective)
            );
        }
        const auto is_left = [&](const Algorithm& algorithm) {
            return algorithm.collective == collective && is_fixed(algorithm) &&
                   std::ranges::none_of(rules, [&](const AlgorithmRule& other) {
                       return other.is_excluded && other.algorithm == &algorithm &&
                              other.sizes.contains(rule.sizes.begin_bytes);
                   });
        };
        // What is excluded changes only where some range begins.
        if (rule.is_excluded && std::ranges::none_of(algorithms(), is_left)) {
            return fmt::format(
                "all that {} may use is excluded for {} bytes: {}", name_of(collective),
                rule.sizes.begin_bytes, names_of_fixed(collective)
            );
        }
    }
    return {};
}

}  // namespace dlrt::coll
