// SPDX-License-Identifier: Apache-2.0
/// Proves every algorithm for every size and root with the verifier; hierarchical ones are in
/// hierarchy_test.cpp. The [full] cases go to 128 ranks and every root.
#include "collectives/algorithms.hpp"

#include "collectives/verify.hpp"
#include "tests/collectives/all_ranks.hpp"

#include <array>
#include <set>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

// Every root, or a few that differ in kind.
enum class Roots : std::uint8_t { all, some };

std::vector<std::int32_t> roots_of(const Algorithm& algorithm, std::int32_t size, Roots roots) {
    std::set<std::int32_t> chosen{0};
    if (algorithm.has_root && roots == Roots::some) chosen = {0, size / 3, size / 2, size - 1};
    for (std::int32_t root = 1; algorithm.has_root && roots == Roots::all && root < size; ++root)
        chosen.insert(root);
    return {chosen.begin(), chosen.end()};
}

void prove(const Algorithm& algorithm, std::int32_t size, Roots roots) {
    if (algorithm.groups_need != GroupsNeed::none) return;
    // By placement.
    std::array<RootProver, 3> provers;
    for (std::int32_t root : roots_of(algorithm, size, roots)) {
        AllRanks ranks(algorithm, size, root);
        for (Placements placements : placements_of(algorithm.collective)) {
            RootProver& prover = provers[static_cast<std::size_t>(placements)];
            if (const auto fault = prover.find_fault(ranks.placed(placements), Proof::exact)) {
                FAIL(
                    name_of(algorithm.collective)
                    << ' ' << algorithm.name << " p " << size << " root " << root << " placement "
                    << static_cast<int>(placements) << ": " << fault->text
                );
            }
        }
    }
}

// Minutes in all, therefore in shares that can run side by side: of each algorithm every fourth
// size, so that they take equally long.
void prove_share(std::size_t share) {
    constexpr std::size_t share_count = 4;
    for (std::size_t i = 0; i < algorithms().size(); ++i) {
        for (std::size_t size = 1 + (i + share) % share_count; size <= 128; size += share_count)
            prove(algorithms()[i], static_cast<std::int32_t>(size), Roots::all);
    }
    SUCCEED();
}

}  // namespace

TEST_CASE("algorithms: every one is right for 1 to 20 ranks and every root", "[collectives]") {
    for (const Algorithm& algorithm : algorithms()) {
        for (std::int32_t size = 1; size <= 20; ++size) prove(algorithm, size, Roots::all);
    }
    SUCCEED();
}

TEST_CASE("algorithms: samples of larger sizes are right", "[collectives]") {
    for (const Algorithm& algorithm : algorithms()) {
        for (std::int32_t size : {31, 33, 64, 97}) prove(algorithm, size, Roots::some);
    }
    SUCCEED();
}

TEST_CASE("algorithms: all of share 1 are right for 1 to 128 ranks", "[.][full][share1]") {
    prove_share(0);
}

TEST_CASE("algorithms: all of share 2 are right for 1 to 128 ranks", "[.][full][share2]") {
    prove_share(1);
}

TEST_CASE("algorithms: all of share 3 are right for 1 to 128 ranks", "[.][full][share3]") {
    prove_share(2);
}

TEST_CASE("algorithms: all of share 4 are right for 1 to 128 ranks", "[.][full][share4]") {
    prove_share(3);
}

TEST_CASE("algorithms: those of few rounds are right for 3001 ranks", "[collectives]") {
    const std::pair<Collective, std::string_view> names[] = {
        {Collective::allreduce, "recursive_doubling"},
        {Collective::bcast, "binomial"},
        {Collective::exscan, "recursive_doubling"},
        {Collective::reduce, "knomial"}};
    for (const auto& [collective, name] : names) {
        const Algorithm* algorithm = find_algorithm(collective, name);
        REQUIRE(algorithm != nullptr);
        const std::int32_t root = algorithm->has_root ? 1000 : 0;
        const auto schedules = all_ranks(*algorithm, 3001, root, Placements::none);
        CHECK_FALSE(find_fault(schedules, Proof::random).has_value());
    }
}

TEST_CASE("algorithms: a rank's schedule says whose it is", "[collectives]") {
    for (const Algorithm& algorithm : algorithms()) {
        const Schedule schedule = algorithm.build(
            {5, 3, algorithm.has_root ? 2 : 0, Placement::separate}
        );
        CHECK(schedule.collective == algorithm.collective);
        CHECK(schedule.algorithm == algorithm.name);
        CHECK(schedule.operand_order == algorithm.operand_order);
        CHECK(schedule.shape.size == 5);
        CHECK(schedule.shape.rank == 3);
    }
}

TEST_CASE("algorithms: a ring moves the least volume that its operation needs", "[collectives]") {
    constexpr std::uint64_t total_bytes = 128 * 9 * 7;
    for (std::int32_t size : {2, 3, 7, 9}) {
        const auto count = static_cast<std::uint64_t>(size);
        auto sent_bytes = [](const Schedule& schedule, const ChunkSizes& sizes) {
            std::uint64_t sum = 0;
            for (const Step& step : schedule.steps) {
                if (step.kind == StepKind::send) sum += sizes.size_bytes(step.like, step.length);
            }
            return sum;
        };
        for (std::int32_t rank = 0; rank < size; ++rank) {
            const Shape shape{size, rank, 0, Placement::separate};
            const auto split = ChunkSizes::split(total_bytes, 1, static_cast<std::uint32_t>(size));
            const auto block = ChunkSizes::block(total_bytes / count);
            CHECK(
                sent_bytes(allreduce_ring(shape), split) == 2 * total_bytes * (count - 1) / count
            );
            CHECK(sent_bytes(allgather_ring(shape), block) == total_bytes * (count - 1) / count);
            CHECK(sent_bytes(allgather_bruck(shape), block) == total_bytes * (count - 1) / count);
        }
    }
}

TEST_CASE("algorithms: trees send p - 1 messages and are no deeper than log2 p", "[collectives]") {
    for (std::int32_t size : {1, 2, 3, 8, 13, 64, 100}) {
        std::size_t messages = 0;
        std::size_t most = 0;
        for (std::int32_t rank = 0; rank < size; ++rank) {
            std::size_t sends = 0;
            for (const Step& step :
                 bcast_binomial({size, rank, size / 2, Placement::separate}).steps) {
                sends += step.kind == StepKind::send ? 1 : 0;
            }
            messages += sends;
            most = std::max(most, sends);
        }
        CHECK(messages == static_cast<std::size_t>(size - 1));
        CHECK((std::size_t{1} << most) < 2 * static_cast<std::size_t>(size));
    }
}

TEST_CASE("algorithms: are found by name", "[collectives]") {
    REQUIRE(find_algorithm(Collective::allreduce, "ring") != nullptr);
    CHECK(find_algorithm(Collective::allreduce, "ring")->build == allreduce_ring);
    CHECK(find_algorithm(Collective::barrier, "ring") == nullptr);
}

}  // namespace dlrt::coll
