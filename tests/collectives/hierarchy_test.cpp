// SPDX-License-Identifier: Apache-2.0
/// Proves every hierarchical algorithm for every size, root and a choice of groups with the
/// verifier. The [full] cases go to 128 ranks; beyond 24 each root has one partition.
#include "collectives/algorithms.hpp"
#include "collectives/groups.hpp"
#include "collectives/verify.hpp"
#include "tests/collectives/all_ranks.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

// Of several sizes that don't repeat.
std::string uneven(std::int32_t size) {
    std::string text = "1";
    std::int32_t left = size - 1;
    for (std::int32_t next = 4; left > 0; next = next % 5 + 1) {
        text += "+" + std::to_string(std::min(next, left));
        left -= std::min(next, left);
    }
    return text;
}

std::vector<Groups> partitions(std::int32_t size) {
    std::vector<Groups> found;
    for (const std::string& text :
         {std::string("1"), std::string("2"), std::string("3"), std::string("4"), std::string("8"),
          uneven(size), std::string("cyclic:2"), std::string("cyclic:3"),
          std::string("cyclic:7")}) {
        const Groups groups = *Groups::parse(text, size);
        if (std::ranges::find(found, groups) == found.end()) found.push_back(groups);
    }
    return found;
}

// turns: every root, but each with one of the partitions, in turn.
enum class Roots : std::uint8_t { all, turns, some };

void prove(
    const Algorithm& algorithm, Placements placements, const Groups& groups, AllRanks& ranks,
    RootProver& prover
) {
    const auto schedules = ranks.placed(placements);
    const auto fault = prover.find_fault(schedules, Proof::exact);
    if (fault || schedules[0].operand_order != operand_order(algorithm, &groups)) {
        std::string members;
        for (std::int32_t rank = 0; rank < groups.size(); ++rank)
            members += ' ' + std::to_string(groups.group_of(rank));
        FAIL(
            name_of(algorithm.collective)
            << ' ' << algorithm.name << " p " << groups.size() << " groups" << members << " root "
            << schedules[0].shape.root << " placement " << static_cast<int>(placements) << ": "
            << (fault ? fault->text : "another order of operands")
        );
    }
}

void prove(const Algorithm& algorithm, std::int32_t size, Roots roots) {
    const std::vector<Groups> all = partitions(size);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Groups& groups = all[i];
        if (!can_be_built(algorithm, &groups)) continue;
        const bool takes_turns = roots == Roots::turns && algorithm.has_root;
        const auto first = static_cast<std::int32_t>(takes_turns ? i : 0);
        const auto turn = static_cast<std::int32_t>(all.size());
        const std::int32_t stride = takes_turns           ? turn
                                    : roots == Roots::all ? 1
                                                          : std::max(1, size / 3);
        RootProver prover;
        for (std::int32_t root = first; root < (algorithm.has_root ? size : 1); root += stride) {
            AllRanks ranks(algorithm, size, root, &groups);
            for (Placements placements : placements_of(algorithm.collective))
                prove(algorithm, placements, groups, ranks, prover);
        }
    }
}

std::vector<const Algorithm*> hierarchical() {
    std::vector<const Algorithm*> found;
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.groups_need != GroupsNeed::none) found.push_back(&algorithm);
    }
    return found;
}

void prove_share(std::size_t share) {
    constexpr std::size_t share_count = 4;
    const std::vector<const Algorithm*> all = hierarchical();
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t size = 1 + (i + share) % share_count; size <= 128; size += share_count) {
            prove(*all[i], static_cast<std::int32_t>(size), size <= 24 ? Roots::all : Roots::turns);
        }
    }
    SUCCEED();
}

}  // namespace

TEST_CASE("hierarchy: every collective has a form, right for 1 to 7 ranks", "[collectives]") {
    std::vector<Collective> known;
    for (const Algorithm* algorithm : hierarchical()) {
        if (known.empty() || known.back() != algorithm->collective)
            known.push_back(algorithm->collective);
        for (std::int32_t size = 1; size <= 7; ++size) prove(*algorithm, size, Roots::all);
    }
    CHECK(known.size() == collective_count);
}

TEST_CASE("hierarchy: samples of larger sizes are right", "[collectives]") {
    for (const Algorithm* algorithm : hierarchical()) {
        for (std::int32_t size : {9, 16}) prove(*algorithm, size, Roots::some);
    }
    SUCCEED();
}

TEST_CASE("hierarchy: all of share 1 are right for 1 to 128 ranks", "[.][full][share1]") {
    prove_share(0);
}

TEST_CASE("hierarchy: all of share 2 are right for 1 to 128 ranks", "[.][full][share2]") {
    prove_share(1);
}

TEST_CASE("hierarchy: all of share 3 are right for 1 to 128 ranks", "[.][full][share3]") {
    prove_share(2);
}

TEST_CASE("hierarchy: all of share 4 are right for 1 to 128 ranks", "[.][full][share4]") {
    prove_share(3);
}

TEST_CASE(
    "hierarchy: what ranks without a choice say of their placement is ignored", "[collectives]"
) {
    const Groups groups = *Groups::parse("2", 5);
    for (const Algorithm* algorithm : hierarchical()) {
        if (!algorithm->has_root) continue;
        std::vector<Schedule> schedules;
        for (std::int32_t rank = 0; rank < 5; ++rank)
            schedules.push_back(algorithm->build({5, rank, 4, Placement::in_place, &groups}));
        for (Schedule& schedule : schedules) {
            if (schedule.shape.rank != 4) schedule.shape.placement = Placement::separate;
        }
        INFO(name_of(algorithm->collective) << ' ' << algorithm->name);
        CHECK_FALSE(find_fault(schedules).has_value());
    }
}

TEST_CASE("hierarchy: the fewest messages and bytes pass between groups", "[collectives]") {
    // Four groups of three; a block is one unit, as is the vector where it is not cut.
    const Groups groups = *Groups::parse("4x3", 12);
    const auto crossing = [&](Collective collective, std::string_view name) {
        const Algorithm& algorithm = *find_algorithm(collective, name);
        std::pair<int, std::uint32_t> found;
        for (const Schedule& schedule : all_ranks(algorithm, 12, 0, Placements::none, &groups)) {
            for (const Step& step : schedule.steps) {
                const bool crosses = step.kind == StepKind::send &&
                                     groups.group_of(step.peer) !=
                                         groups.group_of(schedule.shape.rank);
                if (!crosses) continue;
                ++found.first;
                found.second += step.length;
            }
        }
        return found;
    };
    using Crossing = std::pair<int, std::uint32_t>;
    CHECK(crossing(Collective::barrier, "hierarchical") == Crossing{8, 0});
    CHECK(crossing(Collective::bcast, "hierarchical") == Crossing{3, 3});
    CHECK(crossing(Collective::reduce, "hierarchical") == Crossing{3, 3});
    CHECK(crossing(Collective::allreduce, "hierarchical") == Crossing{8, 8});
    // Binomial: one leader sends the blocks of two groups, and two those of one.
    CHECK(crossing(Collective::gather, "hierarchical") == Crossing{3, 12});
    CHECK(crossing(Collective::scatter, "hierarchical") == Crossing{3, 12});
    CHECK(crossing(Collective::reduce_scatter, "hierarchical") == Crossing{12, 36});
    CHECK(crossing(Collective::alltoall, "hierarchical") == Crossing{12, 108});
    CHECK(crossing(Collective::alltoall, "hierarchical_lanes") == Crossing{36, 108});
}

}  // namespace dlrt::coll
