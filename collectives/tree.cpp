// SPDX-License-Identifier: Apache-2.0
/// Walks from the whole interval down to the rank; the binary trees follow from the bits of a
/// position.
#include "collectives/tree.hpp"

#include <algorithm>
#include <bit>

namespace dlrt::coll {
namespace {

Interval part_of(const Interval& range, std::int32_t radix, std::int32_t index) {
    auto boundary = [&](std::int64_t i) {
        return range.first + static_cast<std::int32_t>((range.size() * i + radix - 1) / radix);
    };
    return {boundary(index), boundary(index + 1)};
}

std::int32_t part_with(const Interval& range, std::int32_t radix, std::int32_t rank) {
    std::int32_t index = 0;
    while (!part_of(range, radix, index).contains(rank)) ++index;
    return index;
}

// In a binary tree over positions 1 .. count, one with k zeros at its end has 2^k - 1 positions
// below it on each side, or as many as there are.
struct Branch {
    std::int32_t parent = 0;  ///< 0: none, as for the children.
    std::int32_t left = 0, right = 0;
};

Interval positions_below(std::int32_t count, std::int32_t position) {
    const std::int32_t low_bit = position & -position;
    return {position - low_bit + 1, std::min(position + low_bit, count + 1)};
}

Branch branch_at(std::int32_t count, std::int32_t position) {
    const std::int32_t low_bit = position & -position;
    Branch branch;
    branch.parent = (position ^ low_bit) | low_bit * 2;
    if (branch.parent > count) branch.parent = position ^ low_bit;
    if (low_bit == 1) return branch;
    branch.left = position - low_bit / 2;
    std::int32_t step = low_bit / 2;
    while (step > 0 && position + step > count) step /= 2;
    if (step > 0) branch.right = position + step;
    return branch;
}

std::int32_t top_position(std::int32_t count) {
    return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(count)));
}

}  // namespace

TreePosition interval_tree(
    std::int32_t size, std::int32_t rank, std::int32_t root, std::int32_t radix
) {
    TreePosition position;
    Interval range{0, size};
    std::int32_t holder = root;
    position.below = range;
    while (range.size() > 1) {
        const std::int32_t kept = part_with(range, radix, holder);
        auto add_child = [&](std::int32_t index) {
            const Interval part = part_of(range, radix, index);
            if (part.size() > 0) position.children.push_back({part.first, part});
        };
        for (std::int32_t index = radix - 1; rank == holder && index > kept; --index)
            add_child(index);
        for (std::int32_t index = 0; rank == holder && index < kept; ++index) add_child(index);
        const std::int32_t own = part_with(range, radix, rank);
        range = part_of(range, radix, own);
        if (own == kept) continue;
        if (rank == range.first) {
            position.parent = holder;
            position.below = range;
        }
        holder = range.first;
    }
    return position;
}

TreePosition star_tree(std::int32_t size, std::int32_t rank) {
    if (rank > 0) return {0, {rank, rank + 1}, {}};
    TreePosition position{-1, {0, size}, {}};
    for (std::int32_t child = size - 1; child > 0; --child)
        position.children.push_back({child, {child, child + 1}});
    return position;
}

TreePosition chain_tree(std::int32_t size, std::int32_t rank, std::int32_t root) {
    TreePosition position{-1, {rank, rank + 1}, {}};
    if (rank > root) position.parent = rank - 1;
    if (rank < root) position.parent = rank + 1;
    if (rank >= root && rank + 1 < size) {
        position.children.push_back({rank + 1, {rank + 1, size}});
        position.below.end = size;
    }
    if (rank <= root && rank > 0) {
        position.children.push_back({rank - 1, {0, rank}});
        position.below.first = 0;
    }
    return position;
}

TreePosition twin_tree(std::int32_t size, std::int32_t rank, Twin twin) {
    const bool is_second = twin == Twin::second;
    const bool is_mirrored = is_second && size % 2 == 0;
    const bool is_under_first_rank = is_second && size % 2 == 1;
    const std::int32_t count = is_under_first_rank ? size - 1 : size;
    auto rank_at = [&](std::int32_t position) {
        if (position == 0) return is_under_first_rank ? 0 : -1;
        if (is_mirrored) return size - position;
        return is_under_first_rank ? position : position - 1;
    };
    auto ranks_below = [&](std::int32_t position) -> Interval {
        const Interval range = positions_below(count, position);
        const std::int32_t ends[] = {rank_at(range.first), rank_at(range.end - 1)};
        return {std::min(ends[0], ends[1]), std::max(ends[0], ends[1]) + 1};
    };
    TreePosition place;
    auto add_child = [&](std::int32_t position) {
        if (position > 0) place.children.push_back({rank_at(position), ranks_below(position)});
    };
    if (is_under_first_rank && rank == 0) {
        place.below = {0, size};
        if (count > 0) add_child(top_position(count));
        return place;
    }
    const std::int32_t position = is_mirrored ? size - rank : is_under_first_rank ? rank : rank + 1;
    const Branch branch = branch_at(count, position);
    place.parent = rank_at(branch.parent);
    place.below = ranks_below(position);
    add_child(branch.left);
    add_child(branch.right);
    return place;
}

}  // namespace dlrt::coll
