// SPDX-License-Identifier: Apache-2.0
/// A binomial tree over ranks in which everybody's subtree is an interval of ranks, whatever the
/// root.
///
/// [0, size) belongs to the root. An interval is halved; its holder keeps the half that it is in,
/// and the lowest rank of the other half becomes the holder's child and holds that half; and so on.
/// Depth ceil(log2 size). Because subtrees are intervals, blocks stay contiguous and operands meet
/// in the order of ranks.
///
///   size 8, root 0        0               size 8, root 5:        5
///                     4   2  1                               0   6  4
///                   6  5  3                                2  1  7
///                  7                                      3
#pragma once

#include <cstdint>
#include <vector>

namespace dlrt::coll {

/// Ranks first .. end - 1.
struct Interval {
    std::int32_t first = 0;
    std::int32_t end = 0;
    [[nodiscard]] std::int32_t size() const { return end - first; }
    [[nodiscard]] bool contains(std::int32_t rank) const { return first <= rank && rank < end; }
};

struct TreeChild {
    std::int32_t rank = 0;
    Interval below;  ///< Its subtree, itself included.
};

struct TreePosition {
    std::int32_t parent = -1;         ///< -1 at the root.
    Interval below;                   ///< This rank's subtree, itself included.
    std::vector<TreeChild> children;  ///< From the largest subtree to the smallest.
};

[[nodiscard]] TreePosition interval_tree(std::int32_t size, std::int32_t rank, std::int32_t root);

}  // namespace dlrt::coll
