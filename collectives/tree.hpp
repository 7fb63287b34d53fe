// SPDX-License-Identifier: Apache-2.0
/// Trees over ranks in which everybody's subtree is an interval of ranks, whatever the root: blocks
/// stay contiguous, and operands meet in the order of ranks. Pure.
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
    std::int32_t parent = -1;  ///< -1 at the root.
    Interval below;            ///< This rank's subtree, itself included.
    /// Backwards, each subtree borders on what it and those after it make up with the rank. Where
    /// sizes differ, the largest comes first.
    std::vector<TreeChild> children;
};

/// Binomial, or k-nomial with a radix of k. [0, size) belongs to the root. An interval is cut into
/// `radix` parts; its holder keeps the part that it is in, and the lowest rank of each other part
/// becomes the holder's child and holds that part; and so on. Depth at most ceil(log size) to that
/// radix.
///
///   size 8, root 0        0               size 8, root 5:        5
///                     4   2  1                               0   6  4
///                   6  5  3                                2  1  7
///                  7                                      3
[[nodiscard]] TreePosition interval_tree(
    std::int32_t size, std::int32_t rank, std::int32_t root, std::int32_t radix = 2
);

/// Everybody is a child of rank 0.
[[nodiscard]] TreePosition star_tree(std::int32_t size, std::int32_t rank);

/// Two chains that end in the root, one if it is the first or last rank: each rank's parent is its
/// neighbour on the root's side.
[[nodiscard]] TreePosition chain_tree(std::int32_t size, std::int32_t rank, std::int32_t root);

/// Two binary trees of depth floor(log2 size), or one more, in which a rank stands between its
/// children. No rank has children in both.
///
///   size 6, first:    3       second:    2         size 5, second:   0
///                   1   5              0   4                           4
///                  0 2 4                1 3 5                        2
///                                                                   1 3
enum class Twin : std::uint8_t { first, second };
[[nodiscard]] TreePosition twin_tree(std::int32_t size, std::int32_t rank, Twin twin);

}  // namespace dlrt::coll
