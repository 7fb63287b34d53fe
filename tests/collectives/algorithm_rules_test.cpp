// SPDX-License-Identifier: Apache-2.0
/// DLRT_ALGO: what is understood, what is refused with which words, and what rules decide.
#include "collectives/algorithm_rules.hpp"

#include "collectives/groups.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <utility>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

std::vector<AlgorithmRule> parsed(std::string_view text) {
    auto rules = parse_algorithm_rules(text);
    INFO(text << ": " << last_error_text());
    REQUIRE(rules.has_value());
    return std::move(*rules);
}

std::string complaint(std::string_view text) {
    INFO(text);
    REQUIRE(!parse_algorithm_rules(text).has_value());
    return last_error_text();
}

std::string_view chosen(
    std::string_view text, std::uint64_t size_bytes, OperandOrder order = OperandOrder::any
) {
    const auto rules = parsed(text);
    const Operation operation{Collective::allreduce, 64, size_bytes, order};
    return choose_algorithm(operation, {rules, {}, false}).algorithm->name;
}

constexpr std::uint64_t kib = 1024;

}  // namespace

TEST_CASE("algorithm rules: items name an algorithm, a range, or what not to use", "[coll]") {
    const auto rules = parsed("allreduce:ring@64k-1m,^recursive_doubling@2m-;bcast:binomial");
    REQUIRE(rules.size() == 3);
    CHECK(rules[0].algorithm == find_algorithm(Collective::allreduce, "ring"));
    CHECK(rules[0].sizes == SizeRange{64 * kib, kib * kib});
    CHECK(!rules[0].is_excluded);
    CHECK(rules[1].algorithm == find_algorithm(Collective::allreduce, "recursive_doubling"));
    CHECK(rules[1].sizes.begin_bytes == 2 * kib * kib);
    CHECK(rules[1].is_excluded);
    CHECK(rules[2].algorithm == find_algorithm(Collective::bcast, "binomial"));
    CHECK(rules[2].sizes == SizeRange{});
}

TEST_CASE("algorithm rules: what is wrong is named with what is valid", "[coll]") {
    CHECK(complaint("alreduce:ring").starts_with("there is no collective 'alreduce'; valid: barr"));
    CHECK(complaint("").starts_with("there is no collective ''"));
    CHECK(complaint("allreduce:ring;").starts_with("there is no collective ''"));
    CHECK(complaint("allreduce") == "'allreduce' names no algorithm; valid: allreduce:NAME");
    CHECK(complaint("bcast:ring").starts_with("bcast has no algorithm 'ring'; valid: "));
    CHECK(complaint("bcast:ring").find("binomial") != std::string::npos);
    CHECK(complaint("allreduce:ring,").starts_with("allreduce has no algorithm ''"));
    CHECK(complaint("allreduce:^^ring").starts_with("allreduce has no algorithm '^ring'"));
    for (const std::string_view range :
         {"", "-", "1m-64k", "4k-4k", "x-", "1-99999999999999999999"}) {
        CHECK(
            complaint(fmt::format("allreduce:ring@{}", range)) ==
            fmt::format("'{}' is no range of sizes; valid: 64k-1m", range)
        );
    }
}

TEST_CASE("algorithm rules: exclusions must leave one at every size", "[coll]") {
    std::string all = "allreduce:";
    std::string all_that_keep_order = "allreduce:";
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != Collective::allreduce) continue;
        all += fmt::format("^{}@1k-,", algorithm.name);
        if (algorithm.operand_order == OperandOrder::any) continue;
        all_that_keep_order += fmt::format("^{},", algorithm.name);
    }
    all.pop_back();
    all_that_keep_order.pop_back();
    CHECK(complaint(all) == "every algorithm of allreduce is excluded for 1024 bytes");
    // A reduction that doesn't commute has only those.
    const Operation operation{Collective::allreduce, 64, 8, OperandOrder::by_rank};
    const Choice choice = choose_algorithm(operation, {parsed(all_that_keep_order), {}, false});
    CHECK(choice.algorithm->operand_order == OperandOrder::by_rank);
    CHECK(chosen(all_that_keep_order, 8) == "ring");
}

TEST_CASE("algorithm rules: the first that covers the size and keeps the order decides", "[coll]") {
    CHECK(chosen("allreduce:ring@-64k", 8) == "ring");
    CHECK(chosen("allreduce:ring@-64k", 64 * kib - 1) == "ring");
    const std::string_view usual = choose_algorithm({Collective::allreduce, 64, 64 * kib}).name;
    CHECK(chosen("allreduce:ring@-64k", 64 * kib) == usual);
    CHECK(chosen("bcast:binomial", 64 * kib) == usual);
    CHECK(chosen("allreduce:recursive_doubling@-1k,ring", 8) == "recursive_doubling");
    CHECK(chosen("allreduce:recursive_doubling@-1k,ring", kib) == "ring");
    // The ring combines in an order of its own.
    CHECK(chosen("allreduce:ring", 8, OperandOrder::by_rank) != "ring");
}

TEST_CASE("algorithm rules: an excluded choice makes way for the first that is not", "[coll]") {
    const Operation operation{Collective::allreduce, 64, 8};
    const std::string usual(choose_algorithm(operation).name);
    const Preferences rules{parsed("allreduce:^" + usual + "@-1k"), {}, false};
    const Choice choice = choose_algorithm(operation, rules);
    CHECK(choice.algorithm->name != usual);
    CHECK(choice.reason == Choice::Reason::exclusion);
    const Operation larger{Collective::allreduce, 64, kib};
    CHECK(choose_algorithm(larger, rules).reason == Choice::Reason::table);
    CHECK(
        choose_algorithm(operation, {parsed("allreduce:ring"), {}, false}).reason ==
        Choice::Reason::rule
    );
    CHECK(choose_algorithm(operation, {}).reason == Choice::Reason::table);
    CHECK(Preferences{}.empty());
}

TEST_CASE("algorithm rules: measured ones come after the user's, before the built-in", "[coll]") {
    const Algorithm* const tree = find_algorithm(Collective::allreduce, "tree");
    const Algorithm* const ring = find_algorithm(Collective::allreduce, "ring");
    Preferences preferences;
    preferences.tuned = {{ring, 3, 4, {}}, {tree, 3, 8, {kib, 2 * kib}}};
    const auto chosen_for = [&](std::int32_t size, std::uint64_t bytes, OperandOrder order) {
        return choose_algorithm({Collective::allreduce, size, bytes, order}, preferences);
    };
    CHECK(chosen_for(4, kib, OperandOrder::any).algorithm == ring);
    CHECK(chosen_for(4, kib, OperandOrder::any).reason == Choice::Reason::tuned);
    // The ring combines in an order of its own.
    CHECK(chosen_for(4, kib, OperandOrder::by_rank).algorithm == tree);
    CHECK(chosen_for(8, 2 * kib - 1, OperandOrder::any).algorithm == tree);
    CHECK(chosen_for(8, 2 * kib, OperandOrder::any).reason == Choice::Reason::table);
    CHECK(chosen_for(9, kib, OperandOrder::any).reason == Choice::Reason::table);
    CHECK(
        choose_algorithm({Collective::bcast, 4, kib}, preferences).reason == Choice::Reason::table
    );
    preferences.rules = parsed("allreduce:centralised,^ring");
    CHECK(chosen_for(4, kib, OperandOrder::any).algorithm->name == "centralised");
    preferences.rules = parsed("allreduce:^ring");
    CHECK(chosen_for(4, kib, OperandOrder::any).algorithm == tree);
}

TEST_CASE("algorithm rules: lists of counts leave those that treat blocks one by one", "[coll]") {
    const auto chosen = [](std::string_view text, Collective collective, std::int32_t size) {
        const Choice choice = choose_for_uneven_blocks(collective, size, parsed(text));
        return std::pair(choice.algorithm->name, choice.reason);
    };
    using Reason = Choice::Reason;
    using Chosen = std::pair<std::string_view, Reason>;
    const char* const other = "bcast:binomial";
    CHECK(chosen(other, Collective::alltoall, 32) == Chosen{"linear", Reason::table});
    CHECK(chosen(other, Collective::alltoall, 33) == Chosen{"pairwise", Reason::table});
    CHECK(chosen(other, Collective::allgather, 4) == Chosen{"ring", Reason::table});
    CHECK(
        chosen("alltoall:bruck,pairwise", Collective::alltoall, 4) ==
        Chosen{"pairwise", Reason::rule}
    );
    // Ranks don't know the sizes, so that they could use different ones.
    CHECK(
        chosen("alltoall:pairwise@1k-", Collective::alltoall, 4) == Chosen{"linear", Reason::table}
    );
    CHECK(
        chosen("allgather:^ring", Collective::allgather, 4) == Chosen{"linear", Reason::exclusion}
    );
    // There is but one.
    CHECK(chosen("gather:^linear", Collective::gather, 4) == Chosen{"linear", Reason::table});
    // What is said to treat blocks one by one does: no step touches two.
    for (const Algorithm& algorithm : algorithms()) {
        if (!takes_uneven_blocks(algorithm)) continue;
        for (std::int32_t size = 1; size <= 9; ++size) {
            for (std::int32_t rank = 0; rank < size; ++rank) {
                const Schedule schedule = algorithm.build({size, rank, 0, Placement::separate});
                CHECK(std::ranges::all_of(schedule.steps, [](const Step& step) {
                    return step.length <= 1;
                }));
            }
        }
    }
}

TEST_CASE("algorithm rules: fixed bits leave out what hasn't any, whoever names it", "[coll]") {
    Preferences preferences{parsed("allreduce:ring"), {}, true};
    preferences.tuned = {{find_algorithm(Collective::allreduce, "tree"), 1, 99, {}}};
    const Operation operation{Collective::allreduce, 8, kib};
    CHECK(choose_algorithm(operation, preferences).algorithm->name == "recursive_doubling");
    CHECK(choose_algorithm(operation, preferences).reason == Choice::Reason::fixed);
    preferences.rules = parsed("allreduce:rabenseifner");
    CHECK(choose_algorithm(operation, preferences).algorithm->name == "rabenseifner");
    preferences.rules = parsed("allreduce:^recursive_doubling");
    CHECK(choose_algorithm(operation, preferences).algorithm->name == "rabenseifner");
    CHECK_FALSE(preferences.empty());
}

TEST_CASE("algorithm rules: what contradicts fixed bits is named", "[coll]") {
    CHECK(contradiction_of(parsed("allreduce:rabenseifner,^ring;bcast:chain;barrier:tree")) == "");
    CHECK(
        contradiction_of(parsed("bcast:chain;allreduce:ring@1m-")) ==
        "the bits of allreduce ring depend on sizes; valid: recursive_doubling, rabenseifner"
    );
    CHECK(
        contradiction_of(parsed("reduce:^rabenseifner@2k-")) ==
        "all that reduce may use is excluded for 2048 bytes: rabenseifner"
    );
    CHECK(contradiction_of(parsed("allreduce:^rabenseifner@2k-")) == "");
}

TEST_CASE("algorithm rules: a hierarchical algorithm is used where its groups are", "[coll]") {
    const Preferences rules{parsed("allreduce:hierarchical_lanes,hierarchical"), {}, false};
    const auto name_for = [&](const Groups* groups, OperandOrder order) {
        return choose_algorithm({Collective::allreduce, 6, kib, order, groups}, rules)
            .algorithm->name;
    };
    const Groups even = *Groups::parse("2", 6), uneven = *Groups::parse("4", 6),
                 cyclic = *Groups::parse("cyclic:2", 6), single = *Groups::parse("6", 6);
    CHECK(name_for(&even, OperandOrder::by_rank) == "hierarchical_lanes");
    CHECK(name_for(&uneven, OperandOrder::by_rank) == "hierarchical");
    CHECK(name_for(&cyclic, OperandOrder::any) == "hierarchical_lanes");
    const auto usual = choose_algorithm({Collective::allreduce, 6, kib}).name;
    CHECK(name_for(&cyclic, OperandOrder::by_rank) == usual);
    CHECK(name_for(&single, OperandOrder::any) == usual);
    CHECK(name_for(nullptr, OperandOrder::any) == usual);
    const auto left_out = [&](const Groups* groups) {
        return choose_algorithm({Collective::allreduce, 6, kib, OperandOrder::any, groups}, rules)
            .without_groups;
    };
    CHECK(left_out(&even) == nullptr);
    REQUIRE(left_out(&uneven) != nullptr);
    CHECK(left_out(&uneven)->name == "hierarchical_lanes");
}

}  // namespace dlrt::coll
