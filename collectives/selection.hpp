// SPDX-License-Identifier: Apache-2.0
/// Which algorithm an operation uses, from what all its ranks agree on: a table, first match wins.
/// Pure.
#pragma once

#include "collectives/algorithms.hpp"

#include <cstdint>

namespace dlrt::coll {

struct Operation {
    Collective collective = Collective::barrier;
    std::int32_t size = 1;
    /// Of the vector; where there are blocks, of as many as there are ranks.
    std::uint64_t total_bytes = 0;
    /// Whether the operands of its reduction may be combined in any order.
    OperandOrder operand_order = OperandOrder::any;
    /// Of its ranks, where they are known.
    const Groups* groups = nullptr;
};

/// Always finds one.
[[nodiscard]] const Algorithm& choose_algorithm(const Operation& operation);

/// One whose reductions have the same bits whatever the number of elements, the placement and the
/// root: the algorithms that it chooses from for a collective all combine ranks by the same
/// expression, which depends on the number of ranks only. Where nothing is reduced, the usual one.
[[nodiscard]] const Algorithm& choose_fixed_algorithm(const Operation& operation);
/// Whether choose_fixed_algorithm() chooses it for some operation.
[[nodiscard]] bool is_fixed(const Algorithm& algorithm);

/// Where ranks have lists of counts nobody knows how long the others' blocks are: only algorithms
/// that treat blocks one by one can be used.
[[nodiscard]] bool takes_uneven_blocks(const Algorithm& algorithm);
/// The usual one of those.
[[nodiscard]] const Algorithm& choose_for_uneven_blocks(Collective collective, std::int32_t size);

}  // namespace dlrt::coll
