// SPDX-License-Identifier: Apache-2.0
/// Collectives between two groups: all data goes from one group to the other, straight from where
/// it is to where it belongs; no message stays within a group. Ranks count over both groups, those
/// of the first one first. Pure functions, O(ranks of the other group).
#pragma once

#include "collectives/neighbour_exchange.hpp"
#include "runtime/base/export.hpp"

#include <cstdint>

namespace dlrt::coll {

/// Stands for the root at ranks of the root's group that are not the root: they take no part.
inline constexpr std::int32_t no_part = -1;

struct TwoGroups {
    std::int32_t first_size = 1;
    std::int32_t second_size = 1;
    std::int32_t rank = 0;
    std::int32_t root = 0;  ///< no_part at some; any where the collective has none.
    friend bool operator==(const TwoGroups&, const TwoGroups&) = default;

    [[nodiscard]] std::int32_t size() const { return first_size + second_size; }
    [[nodiscard]] bool is_in_first() const { return rank < first_size; }
    /// The lowest rank of the other group, and how many it has.
    [[nodiscard]] std::int32_t others_begin() const { return is_in_first() ? first_size : 0; }
    [[nodiscard]] std::int32_t other_count() const {
        return is_in_first() ? second_size : first_size;
    }
};

/// Whether it can be done between groups: prefixes have no meaning there.
[[nodiscard]] constexpr bool is_for_two_groups(Collective collective) {
    return collective != Collective::scan && collective != Collective::exscan &&
           !is_neighbour_exchange(collective);
}

/// Whom a rank sends to and receives from. REQUIRES: is_for_two_groups(collective).
[[nodiscard]] DLRT_CORE Neighbours partners_between(Collective collective, const TwoGroups& groups);

/// A movement has a block for each partner, in their order, or one for all where all get the same,
/// as in neighbour_exchange(). A reduction has one block each of input and output, which hold the
/// whole vector, also of a reduce_scatter: who runs it cuts its share out. Operands are combined in
/// the order of ranks, everywhere alike; two further blocks of memory are needed.
[[nodiscard]] Schedule exchange_between(Collective collective, const TwoGroups& groups);

}  // namespace dlrt::coll
