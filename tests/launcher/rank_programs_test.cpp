// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_programs.hpp"

#include "runtime/base/error_text.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;

/// Ranks 0 and 1 run a, ranks 2 and 3 run b.
JobMap map_of_two_blocks() {
    JobMap map;
    map.hosts.push_back({"h", 4});
    for (std::uint32_t rank = 0; rank < 4; ++rank) map.ranks.push_back({0, rank, rank / 2, {}});
    return map;
}

std::vector<Block> two_blocks() {
    std::vector<Block> blocks(2);
    blocks[0].arguments = {"a", "1"};
    blocks[1].arguments = {"b"};
    return blocks;
}

std::vector<Program> programs_of(const std::vector<Block>& blocks) {
    std::vector<Program> programs;
    for (const Block& block : blocks) programs.push_back({block.arguments, {"X=1"}, "/"});
    return programs;
}

RankSet ranks(std::string_view text) {
    return RankSet::parse(text).value();
}

}  // namespace

TEST_CASE("rank programs: without wraps each block is a program", "[launcher]") {
    const std::vector<Block> blocks = two_blocks();
    const auto result = wrap_programs(blocks, programs_of(blocks), map_of_two_blocks());
    REQUIRE(result.has_value());
    CHECK(result->programs == programs_of(blocks));
    CHECK(result->program_of_rank == std::vector<std::uint32_t>{0, 0, 1, 1});
}

TEST_CASE("rank programs: the first wrap is outermost", "[launcher]") {
    std::vector<Block> blocks = two_blocks();
    blocks[0].wraps = {{ranks("1"), {"gdb", "--args"}}, {{}, {"time"}}};
    blocks[1].wraps = {{ranks("2-3"), {"perf"}}};
    const auto result = wrap_programs(blocks, programs_of(blocks), map_of_two_blocks());
    REQUIRE(result.has_value());
    const auto arguments = [&](std::uint32_t rank) {
        return result->programs[result->program_of_rank[rank]].arguments;
    };
    CHECK(arguments(0) == Words{"time", "a", "1"});
    CHECK(arguments(1) == Words{"gdb", "--args", "time", "a", "1"});
    CHECK(arguments(2) == Words{"perf", "b"});
    CHECK(result->programs.size() == 3);
    CHECK(result->programs[1].environment == Words{"X=1"});
}

TEST_CASE("rank programs: wraps of ranks that run something else are refused", "[launcher]") {
    std::vector<Block> blocks = two_blocks();
    const auto refusal = [&](std::string_view text) {
        blocks[1].wraps = {{ranks(text), {"gdb"}}};
        REQUIRE(!wrap_programs(blocks, programs_of(blocks), map_of_two_blocks()));
        return std::string(last_error_text());
    };
    CHECK(refusal("1-2") == "--wrap: rank 1 does not run 'b'; valid are 2-3");
    CHECK(refusal("3-4") == "--wrap: rank 4 does not run 'b'; valid are 2-3");
    CHECK(refusal("99") == "--wrap: rank 99 does not run 'b'; valid are 2-3");
}

TEST_CASE("rank programs: command lines are shown as a shell would read them", "[launcher]") {
    CHECK(
        command_text(Words{"./a", "-x=1", "b c", "", "it's", "$X"}) ==
        "./a -x=1 'b c' '' 'it'\\''s' '$X'"
    );
    StartJob start;
    start.programs = {{{"a", "1"}, {}, "/"}, {{"b"}, {}, "/"}};
    start.program_of_rank = {0, 1, 0, 1};
    CHECK(
        program_lines(map_of_two_blocks(), start) ==
        Words{"ranks 0,2 on h: a 1", "ranks 1,3 on h: b"}
    );
}

}  // namespace dlrt::launcher
