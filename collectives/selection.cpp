// SPDX-License-Identifier: Apache-2.0
/// The table.
#include "collectives/selection.hpp"

#include "runtime/base/check.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

namespace dlrt::coll {
namespace {

struct Rule {
    Collective collective;
    std::int32_t size_max;
    std::uint64_t total_bytes_max;
    std::string_view algorithm;
};

constexpr std::int32_t any_size = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t any_bytes = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t kib = 1024;

// All that treat blocks one by one. Among many ranks blocks of unknown sizes may not all be under
// way at once.
constexpr Rule uneven_rules[] = {
    {Collective::gather, any_size, any_bytes, "linear"},
    {Collective::scatter, any_size, any_bytes, "linear"},
    {Collective::allgather, any_size, any_bytes, "ring"},
    {Collective::allgather, any_size, any_bytes, "linear"},
    {Collective::reduce_scatter, any_size, any_bytes, "pairwise"},
    {Collective::alltoall, 32, any_bytes, "linear"},
    {Collective::alltoall, any_size, any_bytes, "pairwise"},
};

// Rounds are dear where ranks outnumber cores, since most of them wake somebody: the more ranks,
// the longer the vectors for which few rounds beat few bytes.
constexpr Rule rules[] = {
    {Collective::barrier, any_size, any_bytes, "dissemination"},
    {Collective::bcast, any_size, any_bytes, "binomial"},
    {Collective::reduce, any_size, any_bytes, "binomial"},
    {Collective::allreduce, 2, 16 * kib, "recursive_doubling"},
    {Collective::allreduce, 2, any_bytes, "ring"},
    {Collective::allreduce, 4, 48 * kib, "recursive_doubling"},
    {Collective::allreduce, 4, any_bytes, "ring"},
    {Collective::allreduce, any_size, 256 * kib, "recursive_doubling"},
    {Collective::allreduce, any_size, any_bytes, "ring"},
    {Collective::allreduce, any_size, any_bytes, "recursive_doubling"},
    {Collective::gather, any_size, 32 * kib, "binomial"},
    {Collective::gather, any_size, any_bytes, "linear"},
    {Collective::scatter, any_size, 32 * kib, "binomial"},
    {Collective::scatter, any_size, any_bytes, "linear"},
    {Collective::allgather, 2, any_bytes, "ring"},
    {Collective::allgather, 4, 32 * kib, "bruck"},
    {Collective::allgather, 4, any_bytes, "ring"},
    {Collective::allgather, any_size, 512 * kib, "bruck"},
    {Collective::allgather, any_size, any_bytes, "ring"},
    {Collective::reduce_scatter, 2, any_bytes, "pairwise"},
    {Collective::reduce_scatter, any_size, 32 * kib, "circulant"},
    {Collective::reduce_scatter, any_size, 512 * kib, "recursive_halving"},
    {Collective::reduce_scatter, any_size, any_bytes, "ring"},
    {Collective::reduce_scatter, any_size, any_bytes, "pairwise"},
    {Collective::alltoall, 4, 128 * kib, "linear"},
    {Collective::alltoall, any_size, 8 * kib, "bruck"},
    {Collective::alltoall, any_size, 128 * kib, "linear"},
    {Collective::alltoall, any_size, any_bytes, "pairwise"},
    {Collective::scan, any_size, 32 * kib, "recursive_doubling"},
    {Collective::scan, any_size, any_bytes, "linear"},
    {Collective::exscan, any_size, 32 * kib, "recursive_doubling"},
    {Collective::exscan, any_size, any_bytes, "linear"},
};

// By reduction the algorithms of one expression, in the order of ranks; see fixed_order_test.cpp.
constexpr Rule fixed_rules[] = {
    {Collective::reduce, any_size, any_bytes, "rabenseifner"},
    {Collective::allreduce, any_size, 64 * kib, "recursive_doubling"},
    {Collective::allreduce, any_size, any_bytes, "rabenseifner"},
    {Collective::reduce_scatter, any_size, any_bytes, "pairwise"},
    {Collective::scan, any_size, any_bytes, "linear"},
    {Collective::exscan, any_size, any_bytes, "linear"},
};

/// A rule whose algorithm is found: names cost too much in each call.
struct FoundRule {
    std::int32_t size_max;
    std::uint64_t total_bytes_max;
    const Algorithm* algorithm;
};
using FoundRules = std::array<std::vector<FoundRule>, collective_count>;

FoundRules find_all(std::span<const Rule> rules_by_name) {
    FoundRules found;
    for (const Rule& rule : rules_by_name) {
        const Algorithm* const algorithm = find_algorithm(rule.collective, rule.algorithm);
        DLRT_ASSERT(algorithm != nullptr);
        found[static_cast<std::size_t>(rule.collective)].push_back(
            {rule.size_max, rule.total_bytes_max, algorithm}
        );
    }
    return found;
}

const FoundRules& found_fixed_rules() {
    static const FoundRules found = find_all(fixed_rules);
    return found;
}

const FoundRules& found_uneven_rules() {
    static const FoundRules found = find_all(uneven_rules);
    return found;
}

/// Null when no rule applies.
const Algorithm* first_match(std::span<const FoundRule> found, const Operation& operation) {
    const Algorithm* chosen = nullptr;
    for (const FoundRule& rule : found) {
        const bool applies = operation.size <= rule.size_max &&
                             operation.total_bytes <= rule.total_bytes_max;
        if (!applies) continue;
        chosen = rule.algorithm;
        const bool keeps_order = chosen->operand_order == OperandOrder::by_rank;
        if (keeps_order || operation.operand_order == OperandOrder::any) break;
    }
    return chosen;
}

}  // namespace

const Algorithm& choose_algorithm(const Operation& operation) {
    static const FoundRules found = find_all(rules);
    const Algorithm* const chosen = first_match(
        found[static_cast<std::size_t>(operation.collective)], operation
    );
    DLRT_ASSERT(chosen != nullptr);
    return *chosen;
}

const Algorithm& choose_fixed_algorithm(const Operation& operation) {
    const Algorithm* const chosen = first_match(
        found_fixed_rules()[static_cast<std::size_t>(operation.collective)], operation
    );
    return chosen == nullptr ? choose_algorithm(operation) : *chosen;
}

bool is_fixed(const Algorithm& algorithm) {
    const auto& found = found_fixed_rules()[static_cast<std::size_t>(algorithm.collective)];
    return found.empty() || std::ranges::any_of(found, [&](const FoundRule& rule) {
               return rule.algorithm == &algorithm;
           });
}

bool takes_uneven_blocks(const Algorithm& algorithm) {
    const auto& found = found_uneven_rules()[static_cast<std::size_t>(algorithm.collective)];
    return std::ranges::any_of(found, [&](const FoundRule& rule) {
        return rule.algorithm == &algorithm;
    });
}

const Algorithm& choose_for_uneven_blocks(Collective collective, std::int32_t size) {
    const Algorithm* const chosen = first_match(
        found_uneven_rules()[static_cast<std::size_t>(collective)], {collective, size, 0}
    );
    DLRT_ASSERT(chosen != nullptr);
    return *chosen;
}

}  // namespace dlrt::coll
