// SPDX-License-Identifier: Apache-2.0
/// Values from set algebra and from MPI-4.1 section 7.3.2, worked out by hand.
#include "runtime/group.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using Ranks = std::vector<std::int32_t>;

Ranks members_of(const Group& group) {
    return {group.members().begin(), group.members().end()};
}

Group world(std::int32_t size) {
    Ranks members(static_cast<std::size_t>(size));
    std::iota(members.begin(), members.end(), 0);
    return Group(std::move(members));
}

/// What rank_of must yield, by looking at every member.
std::int32_t find_slowly(const Group& group, WorldRank rank) {
    const auto found = std::ranges::find(group.members(), rank);
    if (found == group.members().end()) return undefined_rank;
    return static_cast<std::int32_t>(found - group.members().begin());
}

}  // namespace

TEST_CASE("group: rank_of agrees with a search through the members", "[group]") {
    std::mt19937 random(7);
    const Ranks shape = GENERATE(
        Ranks{}, Ranks{0}, Ranks{5}, Ranks{0, 1, 2, 3}, Ranks{3, 1, 0}, Ranks{1, 3, 5, 7},
        Ranks{6, 4, 2}, Ranks{2, 3, 4}, Ranks{0, 1000000, 7}, Ranks{0, 2147483647},
        Ranks{5, 4, 3, 2, 1, 0}, Ranks{9, 0, 8, 1, 7, 2, 6, 3, 5, 4}
    );
    const Group group{shape};
    for (WorldRank rank = -3; rank < 20; ++rank)
        CHECK(group.rank_of(rank) == find_slowly(group, rank));
    for (const WorldRank rank : {undefined_rank, INT32_MIN, INT32_MAX, 1000000, 999999}) {
        CHECK(group.rank_of(rank) == find_slowly(group, rank));
    }
    CHECK(members_of(group) == shape);
}

TEST_CASE("group: rank_of is right in large shuffled groups", "[group]") {
    std::mt19937 random(11);
    Ranks all(3000);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(1000);
    const Group group{all};
    CHECK_FALSE(group.is_identity());
    for (WorldRank rank = 0; rank < 3000; ++rank) {
        REQUIRE(group.rank_of(rank) == find_slowly(group, rank));
    }
}

TEST_CASE(
    "group: only the first ranks of the world in their order need no translation", "[group]"
) {
    CHECK(world(1).is_identity());
    CHECK(world(6).is_identity());
    CHECK_FALSE(Group({1, 2, 3}).is_identity());
    CHECK_FALSE(Group({0, 2, 4}).is_identity());
    CHECK_FALSE(Group({1, 0}).is_identity());
}

TEST_CASE("group: union takes the first group, then what the second adds", "[group]") {
    CHECK(members_of(*group_union(Group({3, 1, 0}), Group({0, 5, 3, 2}))) == Ranks{3, 1, 0, 5, 2});
    CHECK(members_of(*group_union(Group({0, 5}), Group({3, 1, 0}))) == Ranks{0, 5, 3, 1});
}

TEST_CASE("group: intersection and difference keep the first group's order", "[group]") {
    CHECK(members_of(*group_intersection(Group({3, 1, 0}), Group({0, 5, 3}))) == Ranks{3, 0});
    CHECK(members_of(*group_intersection(Group({0, 5, 3}), Group({3, 1, 0}))) == Ranks{0, 3});
    CHECK(members_of(*group_difference(Group({4, 3, 1, 0}), Group({0, 5, 3}))) == Ranks{4, 1});
    CHECK(members_of(*group_difference(Group({1, 2}), Group({2, 1}))).empty());
}

TEST_CASE("group: the empty group is neutral or absorbing, as in set algebra", "[group]") {
    const Group some({4, 2, 0});
    const Group empty({});
    CHECK(members_of(*group_union(some, empty)) == Ranks{4, 2, 0});
    CHECK(members_of(*group_union(empty, some)) == Ranks{4, 2, 0});
    CHECK(members_of(*group_intersection(some, empty)).empty());
    CHECK(members_of(*group_intersection(empty, some)).empty());
    CHECK(members_of(*group_difference(some, empty)) == Ranks{4, 2, 0});
    CHECK(members_of(*group_difference(empty, some)).empty());
    CHECK(empty.size() == 0);
    CHECK(empty.rank_of(0) == undefined_rank);
}

TEST_CASE("group: include gives the ranks in the order named", "[group]") {
    const Group group({10, 11, 12, 13});
    CHECK(members_of(**group_include(group, Ranks{3, 1, 0})) == Ranks{13, 11, 10});
    CHECK(members_of(**group_include(group, Ranks{})).empty());
    CHECK(group_include(group, Ranks{4}).error().code == Errc::rank);
    CHECK(last_error_text() == "rank 4 is not in a group of 4 ranks");
    CHECK(group_include(group, Ranks{-1}).error().code == Errc::rank);
    CHECK(group_include(group, Ranks{1, 2, 1}).error().code == Errc::rank);
    CHECK(last_error_text() == "rank 1 is named twice");
}

TEST_CASE("group: exclude keeps the others in the group's order", "[group]") {
    const Group group({13, 12, 11, 10});
    CHECK(members_of(**group_exclude(group, Ranks{2, 0})) == Ranks{12, 10});
    CHECK(members_of(**group_exclude(group, Ranks{})) == Ranks{13, 12, 11, 10});
    CHECK(members_of(**group_exclude(group, Ranks{0, 1, 2, 3})).empty());
    CHECK(group_exclude(group, Ranks{4}).error().code == Errc::rank);
    CHECK(group_exclude(group, Ranks{1, 1}).error().code == Errc::rank);
}

TEST_CASE(
    "group: ranges run up and down and stop at the last rank that the stride meets", "[group]"
) {
    const auto expand = [](std::int32_t size, std::vector<RankRange> ranges) {
        return expand_ranges(size, ranges);
    };
    CHECK(*expand(6, {{0, 5, 2}}) == Ranks{0, 2, 4});
    CHECK(*expand(6, {{5, 0, -2}}) == Ranks{5, 3, 1});
    CHECK(*expand(6, {{4, 4, 1}}) == Ranks{4});
    CHECK(*expand(6, {{4, 4, -9}}) == Ranks{4});
    CHECK(*expand(6, {{5, 4, -1}, {0, 1, 1}}) == Ranks{5, 4, 0, 1});
    CHECK(*expand(6, {{0, 7, 4}}) == Ranks{0, 4});
    CHECK(*expand(6, {{0, 5, INT32_MAX}}) == Ranks{0});
    CHECK(*expand(6, {}) == Ranks{});
    CHECK(expand(6, {{0, 5, 0}}).error().code == Errc::argument);
    CHECK(expand(6, {{0, 5, -1}}).error().code == Errc::argument);
    CHECK(expand(6, {{5, 0, 1}}).error().code == Errc::argument);
    CHECK(expand(6, {{0, 6, 1}}).error().code == Errc::rank);
    CHECK(expand(6, {{-1, 3, 1}}).error().code == Errc::rank);
    CHECK(expand(6, {{0, INT32_MIN, -1}}).error().code == Errc::rank);
    CHECK(expand(0, {{0, 0, 1}}).error().code == Errc::rank);
}

TEST_CASE("group: compare tells identical, reordered and other groups", "[group]") {
    CHECK(compare(Group({0, 1, 2}), world(3)) == Comparison::identical);
    CHECK(compare(Group({2, 1, 0}), world(3)) == Comparison::similar);
    CHECK(compare(Group({0, 1, 3}), world(3)) == Comparison::unequal);
    CHECK(compare(Group({0, 1}), world(3)) == Comparison::unequal);
    CHECK(compare(Group({}), Group({})) == Comparison::identical);
}

}  // namespace dlrt
