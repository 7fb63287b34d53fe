// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/nearest_name.hpp"

#include <array>

#include <catch2/catch.hpp>

namespace dlrt {

TEST_CASE("nearest name: one letter more, less, other or swapped", "[base]") {
    constexpr std::array<std::string_view, 3> names = {"timeout", "np", "wdir"};
    CHECK(nearest_name("timeouts", names) == "timeout");
    CHECK(nearest_name("timout", names) == "timeout");
    CHECK(nearest_name("wdyr", names) == "wdir");
    CHECK(nearest_name("widr", names) == "wdir");
    CHECK(nearest_name("n", names) == "np");
    CHECK(nearest_name("timeout", names) == "timeout");
}

TEST_CASE("nearest name: swapping two neighbours is one step", "[base]") {
    // "ba" is one swap from "ab"; without swaps "bb" (one letter replaced) would win.
    constexpr std::array<std::string_view, 2> names = {"ab", "bb"};
    CHECK(nearest_name("ba", names) == "ab");
}

TEST_CASE("nearest name: of equals the first; of none nothing", "[base]") {
    constexpr std::array<std::string_view, 2> names = {"ax", "ay"};
    CHECK(nearest_name("az", names) == "ax");
    CHECK(nearest_name("az", {}).empty());
    CHECK(nearest_name("", names) == "ax");
}

}  // namespace dlrt
