// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator_create.hpp"

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using Ranks = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("split: members are ordered by key, then by rank", "[communicator]") {
    const std::vector<SplitChoice> choices = {
        {7, 3}, {7, -1}, {2, 0}, {std::nullopt, -9}, {7, 3}, {7, 0}, {2, INT32_MIN},
    };
    CHECK(select_members(choices, 7) == Ranks{1, 5, 0, 4});
    CHECK(select_members(choices, 2) == Ranks{6, 2});
    CHECK(select_members(choices, 0).empty());
}

TEST_CASE("split: color 0 is not the absence of a color", "[communicator]") {
    const std::vector<SplitChoice> choices = {{std::nullopt, 0}, {0, 0}, {std::nullopt, 0}};
    CHECK(select_members(choices, 0) == Ranks{1});
}

}  // namespace dlrt
