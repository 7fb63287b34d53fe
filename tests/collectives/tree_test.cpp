// SPDX-License-Identifier: Apache-2.0
/// Shapes of trees and folds against pictures drawn by hand, and what all of them promise.
#include "collectives/tree.hpp"

#include "collectives/fold.hpp"

#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

using Parents = std::vector<std::int32_t>;

template<typename PositionOf>
std::vector<TreePosition> positions_of(std::int32_t size, PositionOf position_of) {
    std::vector<TreePosition> positions;
    for (std::int32_t rank = 0; rank < size; ++rank) positions.push_back(position_of(rank));
    return positions;
}

Parents parents_of(const std::vector<TreePosition>& positions) {
    Parents parents;
    for (const TreePosition& position : positions) parents.push_back(position.parent);
    return parents;
}

std::int32_t depth_of(const std::vector<TreePosition>& positions, std::int32_t rank) {
    const std::int32_t parent = positions[static_cast<std::size_t>(rank)].parent;
    return parent < 0 ? 0 : 1 + depth_of(positions, parent);
}

std::int32_t depth_of(const std::vector<TreePosition>& positions) {
    std::int32_t depth = 0;
    for (std::size_t rank = 0; rank < positions.size(); ++rank)
        depth = std::max(depth, depth_of(positions, static_cast<std::int32_t>(rank)));
    return depth;
}

// Backwards, each child's interval borders on what is covered so far, and at the end all is.
bool keeps_order(const TreePosition& position, std::int32_t rank) {
    Interval covered{rank, rank + 1};
    for (auto child = position.children.rbegin(); child != position.children.rend(); ++child) {
        if (child->below.end == covered.first) {
            covered.first = child->below.first;
        } else if (child->below.first == covered.end) {
            covered.end = child->below.end;
        } else {
            return false;
        }
    }
    return covered.first == position.below.first && covered.end == position.below.end;
}

bool is_tree(const std::vector<TreePosition>& positions) {
    for (std::size_t rank = 0; rank < positions.size(); ++rank) {
        const auto self = static_cast<std::int32_t>(rank);
        if (!keeps_order(positions[rank], self)) return false;
        for (const TreeChild& child : positions[rank].children) {
            const TreePosition& below = positions[static_cast<std::size_t>(child.rank)];
            if (below.parent != self || below.below.first != child.below.first) return false;
            if (below.below.end != child.below.end) return false;
        }
    }
    return true;
}

std::vector<TreePosition> twins(std::int32_t size, Twin twin) {
    return positions_of(size, [&](std::int32_t rank) { return twin_tree(size, rank, twin); });
}

}  // namespace

TEST_CASE("tree: parents are those of the pictures", "[collectives]") {
    CHECK(parents_of(twins(6, Twin::first)) == Parents{1, 3, 1, -1, 5, 3});
    CHECK(parents_of(twins(6, Twin::second)) == Parents{2, 0, -1, 4, 2, 4});
    CHECK(parents_of(twins(5, Twin::first)) == Parents{1, 3, 1, -1, 3});
    CHECK(parents_of(twins(5, Twin::second)) == Parents{-1, 2, 4, 2, 0});
    auto parents_in = [](auto position_of) { return parents_of(positions_of(8, position_of)); };
    CHECK(parents_in([](std::int32_t rank) {
              return interval_tree(8, rank, 5);
          }) == Parents{5, 0, 0, 2, 5, -1, 5, 6});
    CHECK(parents_in([](std::int32_t rank) {
              return interval_tree(8, rank, 5, 4);
          }) == Parents{5, 0, 5, 2, 5, -1, 5, 6});
    CHECK(parents_in([](std::int32_t rank) {
              return chain_tree(8, rank, 2);
          }) == Parents{1, 2, -1, 2, 3, 4, 5, 6});
    CHECK(parents_in([](std::int32_t rank) {
              return star_tree(8, rank);
          }) == Parents{-1, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("tree: subtrees are intervals that meet in the order of ranks", "[collectives]") {
    for (std::int32_t size = 1; size <= 70; ++size) {
        CHECK(is_tree(twins(size, Twin::first)));
        CHECK(is_tree(twins(size, Twin::second)));
        CHECK(is_tree(positions_of(size, [&](auto rank) { return star_tree(size, rank); })));
        for (std::int32_t root = 0; root < size; ++root) {
            auto chain = [&](std::int32_t rank) { return chain_tree(size, rank, root); };
            CHECK(is_tree(positions_of(size, chain)));
            for (std::int32_t radix : {2, 3, 4}) {
                auto tree = [&](std::int32_t rank) {
                    return interval_tree(size, rank, root, radix);
                };
                CHECK(is_tree(positions_of(size, tree)));
            }
        }
    }
}

TEST_CASE("tree: none is deeper than it says", "[collectives]") {
    auto four_ary_depth = [](std::int32_t size) {
        auto tree = [&](std::int32_t rank) { return interval_tree(size, rank, size / 2, 4); };
        return depth_of(positions_of(size, tree));
    };
    CHECK(four_ary_depth(4) == 1);
    CHECK(four_ary_depth(16) == 2);
    CHECK(four_ary_depth(64) == 3);
    for (std::int32_t size = 17; size < 64; ++size) CHECK(four_ary_depth(size) <= 3);
    CHECK(depth_of(twins(63, Twin::first)) == 5);
    CHECK(depth_of(twins(64, Twin::first)) == 6);
    CHECK(depth_of(twins(64, Twin::second)) == 6);
    CHECK(depth_of(twins(65, Twin::second)) == 7);
}

TEST_CASE("tree: no rank has children in both of the two trees", "[collectives]") {
    for (std::int32_t size = 1; size <= 70; ++size) {
        const auto first = twins(size, Twin::first);
        const auto second = twins(size, Twin::second);
        for (std::size_t rank = 0; rank < first.size(); ++rank)
            CHECK((first[rank].children.empty() || second[rank].children.empty()));
    }
}

TEST_CASE("fold: six ranks to four", "[collectives]") {
    const Fold fold = Fold::to_power_of_two(6);
    CHECK(fold.count() == 4);
    CHECK(
        Parents{fold.rank_of(0), fold.rank_of(1), fold.rank_of(2), fold.rank_of(3)} ==
        Parents{1, 3, 4, 5}
    );
    CHECK(fold.is_out(0));
    CHECK_FALSE(fold.is_out(1));
    CHECK_FALSE(fold.is_paired(4));
    CHECK(fold.first_rank(1) == 2);
    CHECK(fold.first_rank(4) == 6);
    const Fold keeping = Fold::to_power_of_two(6, 2);
    CHECK(keeping.rank_of(1) == 2);
    CHECK(keeping.is_out(3));
    CHECK(keeping.rank_of(0) == 1);
}

}  // namespace dlrt::coll
