// SPDX-License-Identifier: Apache-2.0
/// Tests how ranks are divided into groups, how that is written, and what algorithms ask of it.
#include "collectives/groups.hpp"

#include "collectives/algorithms.hpp"
#include "runtime/base/error_text.hpp"

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

std::vector<std::int32_t> groups_in(std::string_view text, std::int32_t size) {
    const Result<Groups> groups = Groups::parse(text, size);
    REQUIRE(groups);
    std::vector<std::int32_t> found;
    for (std::int32_t rank = 0; rank < size; ++rank) found.push_back(groups->group_of(rank));
    return found;
}

using List = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("groups: every way to write them", "[collectives]") {
    CHECK(groups_in("2", 5) == List{0, 0, 1, 1, 2});
    CHECK(groups_in("8", 3) == List{0, 0, 0});
    CHECK(groups_in("2x3", 6) == List{0, 0, 0, 1, 1, 1});
    CHECK(groups_in("1+3", 4) == List{0, 1, 1, 1});
    CHECK(groups_in("cyclic:2", 5) == List{0, 1, 0, 1, 0});
    CHECK(groups_in("cyclic:9", 2) == List{0, 1});
    CHECK(groups_in("3,1/0,2", 4) == List{0, 1, 0, 1});
    CHECK(groups_in("0-2,5/3,4", 6) == List{0, 0, 0, 1, 1, 0});
}

TEST_CASE("groups: what divides otherwise is refused in words", "[collectives]") {
    for (const char* text :
         {"",      "0",        "x",       "2x2", "3x2",        "0x0",        "1+3",
          "2+2+2", "cyclic:0", "cyclic:", "0-3", "0-4/4",      "0,1,2,3,5",  "0-1/1-4",
          "a",     "-1",       "3-1/0,4", "4+",  "0,1/2,3,4/", "99999999999"}) {
        INFO(text);
        CHECK_FALSE(Groups::parse(text, 5));
        CHECK(last_error_text().find("does not divide 5 ranks into groups") != std::string::npos);
    }
}

TEST_CASE("groups: are numbered by their lowest rank, positions go through them", "[collectives]") {
    const Groups groups = *Groups::parse("1,3/0,2,4", 5);
    CHECK(groups.count() == 2);
    CHECK(groups.size() == 5);
    CHECK(groups.size_of(0) == 3);
    CHECK(groups.first_of(1) == 3);
    const List ranks{0, 2, 4, 1, 3};
    for (std::int32_t position = 0; position < 5; ++position) {
        CHECK(groups.rank_at(position) == ranks[static_cast<std::size_t>(position)]);
        CHECK(groups.position_of(groups.rank_at(position)) == position);
    }
    CHECK_FALSE(groups.is_consecutive());
    CHECK_FALSE(groups.is_even());
    CHECK(groups.is_layered());
    CHECK(groups == *Groups::parse("0,2,4/1,3", 5));
}

TEST_CASE("groups: an algorithm says what it asks of them", "[collectives]") {
    const auto applies = [](Collective collective, std::string_view name, const char* text) {
        const Groups groups = *Groups::parse(text, 6);
        return is_applicable(*find_algorithm(collective, name), &groups);
    };
    CHECK(applies(Collective::bcast, "hierarchical", "2"));
    CHECK(applies(Collective::bcast, "hierarchical", "cyclic:4"));
    CHECK_FALSE(applies(Collective::bcast, "hierarchical", "1"));
    CHECK_FALSE(applies(Collective::bcast, "hierarchical", "6"));
    CHECK(applies(Collective::bcast, "binomial", "6"));
    CHECK(applies(Collective::allreduce, "hierarchical_lanes", "cyclic:2"));
    CHECK_FALSE(applies(Collective::allreduce, "hierarchical_lanes", "2+4"));
    CHECK(applies(Collective::scan, "hierarchical", "2+4"));
    CHECK_FALSE(applies(Collective::scan, "hierarchical", "cyclic:2"));
    const Algorithm& reduce = *find_algorithm(Collective::reduce, "hierarchical");
    CHECK_FALSE(is_applicable(reduce, nullptr));
    CHECK(groups_restriction(reduce) == "needs several groups, one of several ranks");
    CHECK(groups_restriction(*find_algorithm(Collective::reduce, "binomial")).empty());
    const Groups cyclic = *Groups::parse("cyclic:2", 6);
    const Groups neighbours = *Groups::parse("2", 6);
    CHECK(operand_order(reduce, &cyclic) == OperandOrder::any);
    CHECK(operand_order(reduce, &neighbours) == OperandOrder::by_rank);
}

}  // namespace dlrt::coll
