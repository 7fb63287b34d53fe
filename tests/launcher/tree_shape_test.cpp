// SPDX-License-Identifier: Apache-2.0
#include "launcher/tree_shape.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("tree shape: members are numbered level by level", "[launcher]") {
    // 0 1 2 | 3 4 5, 6 7 8, 9 10 11 | 12 13, below 3
    const TreeShape shape(14, 3);
    CHECK(shape.top_count() == 3);
    CHECK_FALSE(shape.parent(2).has_value());
    CHECK(shape.parent(3) == 0);
    CHECK(shape.parent(11) == 2);
    CHECK(shape.parent(13) == 3);
    CHECK(shape.children(0) == Numbers{3, 4, 5});
    CHECK(shape.children(3) == Numbers{12, 13});
    CHECK(shape.children(4).empty());
    CHECK(shape.top_of(13) == 0);
    CHECK(shape.top_of(10) == 2);
    CHECK(shape.top_of(1) == 1);
}

TEST_CASE("tree shape: the next hop leads down to a member, and nowhere else", "[launcher]") {
    const TreeShape shape(14, 3);
    CHECK(shape.next_hop(0, 13) == 3);
    CHECK(shape.next_hop(3, 13) == 13);
    CHECK_FALSE(shape.next_hop(1, 13).has_value());
    CHECK_FALSE(shape.next_hop(13, 13).has_value());
    CHECK_FALSE(shape.next_hop(13, 0).has_value());
    CHECK_FALSE(shape.next_hop(0, 14).has_value());
    CHECK_FALSE(shape.next_hop(0, UINT32_MAX).has_value());
    CHECK(shape.is_below(12, 0));
    CHECK_FALSE(shape.is_below(12, 2));
}

TEST_CASE("tree shape: every member is the child of its parent, whatever the width", "[launcher]") {
    for (const std::uint32_t width : {1u, 2u, 3u, 32u, 200u}) {
        const TreeShape shape(100, width);
        for (std::uint32_t member = 0; member < 100; ++member) {
            const auto parent = shape.parent(member);
            REQUIRE(parent.has_value() == (member >= shape.top_count()));
            if (!parent) continue;
            REQUIRE(*parent < member);
            const Numbers children = shape.children(*parent);
            REQUIRE(std::find(children.begin(), children.end(), member) != children.end());
            REQUIRE(children.size() <= width);
        }
    }
}

}  // namespace
}  // namespace dlrt::launcher
