// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/nearest_name.hpp"

#include <array>
#include <string>

#include <catch2/catch.hpp>

namespace dlrt {

constexpr std::array<std::string_view, 3> names = {"timeout", "np", "wdir"};

TEST_CASE("nearest name: one letter more, less, other or swapped", "[base]") {
    CHECK(nearest_name("timeouts", names) == "timeout");
    CHECK(nearest_name("timout", names) == "timeout");
    CHECK(nearest_name("wdyr", names) == "wdir");
    CHECK(nearest_name("widr", names) == "wdir");
    CHECK(nearest_name("timeuot", names) == "timeout");
    CHECK(nearest_name("dir", names) == "wdir");
    CHECK(nearest_name("n", names) == "np");
    CHECK(nearest_name("nq", names) == "np");
    CHECK(nearest_name("timeout", names) == "timeout");
}

TEST_CASE("nearest name: a different word is near to none", "[base]") {
    CHECK(nearest_name("time", names).empty());
    CHECK(nearest_name("xy", names).empty());
    CHECK(nearest_name("", names).empty());
    CHECK(nearest_name(std::string(1'000'000, 'n'), names).empty());
    CHECK(nearest_name("np", {}).empty());
}

TEST_CASE("nearest name: swapping two neighbours is one step", "[base]") {
    // "ba" is one swap from "ab"; without swaps "bb" (one letter replaced) would win.
    constexpr std::array<std::string_view, 2> two = {"ab", "bb"};
    CHECK(nearest_name("ba", two) == "ab");
}

TEST_CASE("nearest name: of equals the first", "[base]") {
    constexpr std::array<std::string_view, 2> two = {"ax", "ay"};
    CHECK(nearest_name("az", two) == "ax");
}

TEST_CASE("nearest name: who writes what is near to none is told what is valid", "[base]") {
    CHECK(did_you_mean("timout", names) == "did you mean timeout?");
    CHECK(did_you_mean("zebra", names) == "valid: timeout, np, wdir");
}

}  // namespace dlrt
