// SPDX-License-Identifier: Apache-2.0
#include "launcher/input_share.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {

TEST_CASE("input share: as much is taken as the slowest host has", "[launcher]") {
    InputShare share({1, 3});
    CHECK(share.take(1, 100) == 0);
    CHECK(share.take(3, 40) == 40);
    CHECK(share.take(3, 80) == 60);
    CHECK(share.take(2, 1000) == 0);
    CHECK_FALSE(share.is_closed());
}

TEST_CASE("input share: a host that takes no more is not waited for", "[launcher]") {
    InputShare share({1, 3});
    CHECK(share.take(1, 100) == 0);
    CHECK(share.close(3) == 100);
    CHECK_FALSE(share.has(3));
    CHECK(share.take(1, 5) == 5);
    CHECK(share.close(1) == 0);
    CHECK(share.is_closed());
}

}  // namespace dlrt::launcher
