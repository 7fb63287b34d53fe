// SPDX-License-Identifier: Apache-2.0
/// Collectives between two groups: every pair of sizes and every root.
#include "collectives/two_groups.hpp"

#include "collectives/contract.hpp"
#include "collectives/verify_neighbours.hpp"
#include "collectives/verify_parts.hpp"
#include "tests/collectives/replay.hpp"

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

bool is_in_first(std::int32_t rank, std::int32_t first_size) {
    return rank < first_size;
}

/// As each rank sees it: those beside the root know that they have no part.
TwoGroups groups_of(
    Collective collective, std::int32_t first, std::int32_t second, std::int32_t rank,
    std::int32_t root
) {
    TwoGroups groups{first, second, rank, 0};
    if (!has_root(collective)) return groups;
    const bool is_beside = rank != root && is_in_first(rank, first) == is_in_first(root, first);
    groups.root = is_beside ? no_part : root;
    return groups;
}

struct All {
    std::vector<Schedule> schedules;
    std::vector<Neighbours> partners;
};

All all_ranks(Collective collective, std::int32_t first, std::int32_t second, std::int32_t root) {
    All all;
    for (std::int32_t rank = 0; rank < first + second; ++rank) {
        const TwoGroups groups = groups_of(collective, first, second, rank, root);
        all.schedules.push_back(exchange_between(collective, groups));
        all.partners.push_back(partners_between(collective, groups));
    }
    return all;
}

/// Calls body(first, second, root) for each pair of sizes and each root.
template<typename Body>
void for_each_pair(Collective collective, std::int32_t size_max, const Body& body) {
    for (std::int32_t first = 1; first <= size_max; ++first) {
        for (std::int32_t second = 1; second <= size_max; ++second) {
            const std::int32_t roots = has_root(collective) ? first + second : 1;
            for (std::int32_t root = 0; root < roots; ++root) body(first, second, root);
        }
    }
}

void check_order(const std::vector<Schedule>& schedules) {
    const AllSteps steps(schedules);
    Findings findings;
    check_bounds(steps, findings);
    const std::vector<StepId> partners = check_pairing(steps, findings);
    const std::vector<StepId> order = check_deadlock(steps, partners, findings);
    for (const Schedule& schedule : schedules) check_races(schedule, findings);
    const auto fault = std::move(findings).take();
    INFO((fault ? fault->text : ""));
    CHECK_FALSE(fault.has_value());
}

constexpr Collective movements[] = {Collective::barrier,   Collective::bcast,
                                    Collective::gather,    Collective::scatter,
                                    Collective::allgather, Collective::alltoall};
constexpr Collective reductions[] = {
    Collective::reduce, Collective::allreduce, Collective::reduce_scatter};

void check_movements(Collective collective, std::int32_t size_max) {
    for_each_pair(
        collective, size_max,
        [&](std::int32_t first, std::int32_t second, std::int32_t root) {
            INFO(name_of(collective) << " " << first << " and " << second << ", root " << root);
            const All all = all_ranks(collective, first, second, root);
            const auto fault = find_neighbour_fault(all.schedules, all.partners);
            INFO((fault ? fault->text : ""));
            CHECK_FALSE(fault.has_value());
        }
    );
}

void check_reductions(Collective collective, std::int32_t size_max) {
    for_each_pair(
        collective, size_max,
        [&](std::int32_t first, std::int32_t second, std::int32_t root) {
            INFO(name_of(collective) << " " << first << " and " << second << ", root " << root);
            std::vector<Schedule> schedules = all_ranks(collective, first, second, root).schedules;
            // In memory a reduce_scatter is an allreduce, of which the runtime takes a share.
            for (Schedule& schedule : schedules) {
                if (collective == Collective::reduce_scatter)
                    schedule.collective = Collective::allreduce;
                // Those beside the root don't know it.
                if (collective == Collective::reduce) schedule.shape.root = root;
            }
            check_order(schedules);
            Replay replay(schedules);
            for (std::int32_t rank = 0; rank < first + second; ++rank) {
                if (has_root(collective) && rank != root) continue;
                const bool is_first = is_in_first(rank, first);
                Names right;
                for (std::int32_t i = 0; i < (is_first ? second : first); ++i)
                    right.push_back({is_first ? first + i : i, 0});
                CHECK(replay.output(rank, 0) == right);
            }
        }
    );
}

}  // namespace

TEST_CASE("two groups: movements are proved, every root", "[collectives]") {
    for (const Collective collective : movements) check_movements(collective, 5);
}
TEST_CASE("two groups: movements are proved, up to 16 ranks each", "[collectives][full]") {
    for (const Collective collective : movements) check_movements(collective, 16);
}

TEST_CASE("two groups: a reduction is that of the other group, in its order", "[collectives]") {
    for (const Collective collective : reductions) check_reductions(collective, 5);
}
TEST_CASE("two groups: reductions are right, up to 16 ranks each", "[collectives][full]") {
    for (const Collective collective : reductions) check_reductions(collective, 16);
}

TEST_CASE("two groups: who sends to whom", "[collectives]") {
    const auto targets = [](Collective collective, std::int32_t rank, std::int32_t root) {
        std::vector<std::int32_t> ranks;
        const Neighbours partners = partners_between(
            collective, groups_of(collective, 2, 3, rank, root)
        );
        for (const Link& link : partners.targets) ranks.push_back(link.rank);
        return ranks;
    };
    using Ranks = std::vector<std::int32_t>;
    CHECK(targets(Collective::allgather, 0, 0) == Ranks{2, 3, 4});
    CHECK(targets(Collective::alltoall, 3, 0) == Ranks{0, 1});
    CHECK(targets(Collective::bcast, 1, 1) == Ranks{2, 3, 4});
    CHECK(targets(Collective::bcast, 0, 1).empty());
    CHECK(targets(Collective::scatter, 4, 4) == Ranks{0, 1});
    CHECK(targets(Collective::gather, 2, 1) == Ranks{1});
    CHECK(targets(Collective::gather, 0, 1).empty());
    CHECK(targets(Collective::reduce, 0, 3) == Ranks{3});
}

}  // namespace dlrt::coll
