// SPDX-License-Identifier: Apache-2.0
/// The algorithms of DLRT_DETERMINISTIC: by which expression they combine ranks.
#include "collectives/selection.hpp"
#include "collectives/verify_values.hpp"
#include "tests/collectives/all_ranks.hpp"

#include <map>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

/// Expressions over ranks; which chunk they are of doesn't count. Equal ones have equal numbers, in
/// all operations that are run on the same trees. Collects those that results have.
class Trees {
  public:
    using Value = std::uint32_t;

    Value leaf(std::int32_t rank, std::uint32_t) { return number_of({-1, rank}); }
    std::optional<Value> combine(Value left, Value right) {
        return number_of({static_cast<std::int64_t>(left), static_cast<std::int64_t>(right)});
    }
    bool holds(Value value, const Content& content) {
        if (content.kind == Content::Kind::of_all) of_all.insert(value);
        if (content.kind == Content::Kind::of_prefix) of_prefix[content.rank].insert(value);
        return true;
    }
    static bool is_by_rank(Value) { return true; }
    static bool is_same(Value left, Value right) { return left == right; }
    static std::string text(Value) { return "an expression"; }

    std::set<Value> of_all;
    std::map<std::int32_t, std::set<Value>> of_prefix;  ///< By the last rank.

  private:
    using Sides = std::pair<std::int64_t, std::int64_t>;
    Value number_of(const Sides& sides) {
        return numbers_.try_emplace(sides, static_cast<Value>(numbers_.size() + 1)).first->second;
    }
    std::map<Sides, Value> numbers_;
};

void collect(Trees& trees, const Algorithm& algorithm, std::int32_t size) {
    const std::int32_t roots = algorithm.has_root ? size : 1;
    for (std::int32_t root = 0; root < roots; ++root) {
        for (const Placements placements : placements_of(algorithm.collective)) {
            const auto schedules = all_ranks(algorithm, size, root, placements);
            const AllSteps steps(schedules);
            Findings findings;
            const auto partners = check_pairing(steps, findings);
            const auto order = check_deadlock(steps, partners, findings);
            ValueCheck(steps, trees, findings).run({order, partners});
            REQUIRE_FALSE(findings.has_fault());
        }
    }
}

void collect_fixed(Trees& trees, Collective collective, std::int32_t size) {
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective == collective && is_fixed(algorithm))
            collect(trees, algorithm, size);
    }
}

constexpr std::int32_t size_max = 40;

}  // namespace

TEST_CASE(
    "fixed order: every chunk, root and placement of reduce and allreduce has one expression",
    "[collectives]"
) {
    for (std::int32_t size = 1; size <= size_max; ++size) {
        Trees trees;
        collect_fixed(trees, Collective::reduce, size);
        collect_fixed(trees, Collective::allreduce, size);
        INFO(size << " ranks");
        CHECK(trees.of_all.size() == 1);
    }
}

TEST_CASE("fixed order: a ring has as many expressions as chunks", "[collectives]") {
    Trees trees;
    collect(trees, *find_algorithm(Collective::allreduce, "ring"), 5);
    CHECK(trees.of_all.size() == 5);
}

TEST_CASE("fixed order: what an algorithm is chosen for has its expression", "[collectives]") {
    for (const Algorithm& algorithm : algorithms()) {
        for (const std::uint64_t bytes : {0u, 8u, 64u << 10, (64u << 10) + 1, 1u << 30}) {
            for (const std::int32_t size : {1, 2, 7, 128}) {
                for (const auto order : {OperandOrder::any, OperandOrder::by_rank}) {
                    const Algorithm& chosen = choose_fixed_algorithm(
                        {algorithm.collective, size, bytes, order}
                    );
                    CHECK(chosen.collective == algorithm.collective);
                    CHECK(is_fixed(chosen));
                }
            }
        }
    }
}

TEST_CASE("fixed order: prefixes are added from the left, in scan and exscan", "[collectives]") {
    for (std::int32_t size = 1; size <= size_max; ++size) {
        Trees trees;
        collect_fixed(trees, Collective::scan, size);
        collect_fixed(trees, Collective::exscan, size);
        INFO(size << " ranks");
        auto sum = trees.leaf(0, 0);
        for (std::int32_t last = 0; last < size; ++last) {
            if (last > 0) sum = *trees.combine(sum, trees.leaf(last, 0));
            CHECK(trees.of_prefix[last] == std::set{sum});
        }
    }
}

TEST_CASE("fixed order: a reduce-scatter has one expression for each block", "[collectives]") {
    for (std::int32_t size = 1; size <= size_max; ++size) {
        Trees trees;
        collect_fixed(trees, Collective::reduce_scatter, size);
        INFO(size << " ranks");
        CHECK(trees.of_all.size() <= static_cast<std::size_t>(size));
    }
}

}  // namespace dlrt::coll
