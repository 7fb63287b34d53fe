// SPDX-License-Identifier: Apache-2.0
/// The table.
#include "collectives/selection.hpp"

#include "runtime/base/check.hpp"

#include <limits>

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

constexpr Rule rules[] = {
    {Collective::barrier, 4, any_bytes, "dissemination"},
    {Collective::barrier, any_size, any_bytes, "tree"},
    {Collective::bcast, any_size, any_bytes, "binomial"},
    {Collective::reduce, any_size, any_bytes, "binomial"},
    {Collective::allreduce, any_size, 16 * 1024, "recursive_doubling"},
    {Collective::allreduce, any_size, any_bytes, "ring"},
    {Collective::allreduce, any_size, any_bytes, "recursive_doubling"},
    {Collective::gather, any_size, 32 * 1024, "binomial"},
    {Collective::gather, any_size, any_bytes, "linear"},
    {Collective::scatter, any_size, 32 * 1024, "binomial"},
    {Collective::scatter, any_size, any_bytes, "linear"},
    {Collective::allgather, 2, any_bytes, "ring"},
    {Collective::allgather, any_size, 32 * 1024, "bruck"},
    {Collective::allgather, any_size, any_bytes, "ring"},
};

bool applies(const Rule& rule, const Operation& operation) {
    return rule.collective == operation.collective && operation.size <= rule.size_max &&
           operation.total_bytes <= rule.total_bytes_max;
}

}  // namespace

const Algorithm& choose_algorithm(const Operation& operation) {
    const Algorithm* chosen = nullptr;
    for (const Rule& rule : rules) {
        if (!applies(rule, operation)) continue;
        const Algorithm* candidate = find_algorithm(rule.collective, rule.algorithm);
        DLRT_ASSERT(candidate != nullptr);
        chosen = candidate;
        const bool keeps_order = candidate->operand_order == OperandOrder::by_rank;
        if (keeps_order || operation.operand_order == OperandOrder::any) break;
    }
    DLRT_ASSERT(chosen != nullptr);
    return *chosen;
}

}  // namespace dlrt::coll
