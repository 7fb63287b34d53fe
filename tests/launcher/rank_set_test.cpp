// SPDX-License-Identifier: Apache-2.0
/// Sets of ranks: what is read, what is refused, who is a member.
#include "launcher/rank_set.hpp"

#include "runtime/base/error_text.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

RankSet parsed(std::string_view text) {
    Result<RankSet> ranks = RankSet::parse(text);
    REQUIRE(ranks);
    return std::move(*ranks);
}

}  // namespace

TEST_CASE("rank set: ranges and numbers are sorted and merged", "[launcher]") {
    CHECK(parsed("3").text() == "3");
    CHECK(parsed("7,0-3").text() == "0-3,7");
    CHECK(parsed("0-2,2-5,6,8").text() == "0-6,8");
    CHECK(parsed("4294967295,0").text() == "0,4294967295");
    CHECK(parsed("4294967295,4294967294").text() == "4294967294-4294967295");
}

TEST_CASE("rank set: members are those named", "[launcher]") {
    const RankSet ranks = parsed("1,4-6");
    CHECK(!ranks.contains(0));
    CHECK(ranks.contains(1));
    CHECK(!ranks.contains(2));
    CHECK(ranks.contains(4));
    CHECK(ranks.contains(6));
    CHECK(!ranks.contains(7));
    CHECK(ranks.last() == 6);
    CHECK(!RankSet().contains(0));
    CHECK(RankSet().is_empty());
}

TEST_CASE("rank set: whatever is no list of ranks is refused by name", "[launcher]") {
    for (const char* text :
         {"", ",", "1,", ",1", "a", "-1", "1-", "3-2", "1--2", "1 2", " 1", "4294967296", "1.5"}) {
        CAPTURE(text);
        const Result<RankSet> ranks = RankSet::parse(text);
        REQUIRE(!ranks);
        CHECK(ranks.error().code == Errc::argument);
        CHECK(last_error_text().find("valid is a list like 0-3,7") != std::string::npos);
    }
}

}  // namespace dlrt::launcher
