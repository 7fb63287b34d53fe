// SPDX-License-Identifier: Apache-2.0
/// Walks from the whole interval down to the rank.
#include "collectives/tree.hpp"

namespace dlrt::coll {

TreePosition interval_tree(std::int32_t size, std::int32_t rank, std::int32_t root) {
    TreePosition position;
    Interval range{0, size};
    std::int32_t holder = root;
    position.below = range;
    while (range.size() > 1) {
        const std::int32_t middle = range.first + (range.size() + 1) / 2;
        const Interval lower{range.first, middle};
        const Interval upper{middle, range.end};
        const Interval kept = lower.contains(holder) ? lower : upper;
        const Interval given = lower.contains(holder) ? upper : lower;
        if (given.contains(rank)) {
            if (rank == given.first) {
                position.parent = holder;
                position.below = given;
            }
            range = given;
            holder = given.first;
        } else {
            if (rank == holder) position.children.push_back({given.first, given});
            range = kept;
        }
    }
    return position;
}

}  // namespace dlrt::coll
