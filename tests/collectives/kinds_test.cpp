// SPDX-License-Identifier: Apache-2.0
/// What reduce_scatter, alltoall, scan and exscan do, said without the contract and the verifier:
/// results on names, and volumes and rounds counted by hand.
#include "tests/collectives/all_ranks.hpp"
#include "tests/collectives/replay.hpp"

#include <numeric>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

Names names_of(std::int32_t rank_count, std::uint32_t chunk) {
    Names names;
    for (std::int32_t rank = 0; rank < rank_count; ++rank) names.push_back({rank, chunk});
    return names;
}

// What this rank's output must begin with.
std::vector<Names> expected_outputs(const Schedule& schedule) {
    const std::int32_t rank = schedule.shape.rank;
    const auto block = static_cast<std::uint32_t>(rank);
    std::vector<Names> outputs;
    if (schedule.collective == Collective::reduce_scatter)
        outputs.push_back(names_of(schedule.shape.size, block));
    if (schedule.collective == Collective::alltoall) {
        for (std::int32_t source = 0; source < schedule.shape.size; ++source)
            outputs.push_back({{source, block}});
    }
    const bool is_untouched = schedule.collective == Collective::exscan && rank == 0;
    for (std::uint32_t chunk = 0; chunk < schedule.chunk_count; ++chunk) {
        if (schedule.collective == Collective::scan) outputs.push_back(names_of(rank + 1, chunk));
        if (schedule.collective == Collective::exscan && !is_untouched)
            outputs.push_back(names_of(rank, chunk));
        if (is_untouched && schedule.shape.placement == Placement::in_place)
            outputs.push_back({{0, chunk}});
    }
    return outputs;
}

bool is_new_kind(Collective collective) {
    return collective == Collective::reduce_scatter || collective == Collective::alltoall ||
           collective == Collective::scan || collective == Collective::exscan;
}

std::vector<Schedule> separate_ranks(Collective collective, std::string_view name, int size) {
    const Algorithm* algorithm = find_algorithm(collective, name);
    REQUIRE(algorithm != nullptr);
    return all_ranks(*algorithm, size, 0, Placements::none);
}

// By rank.
struct Sent {
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> messages;
};

Sent sent_by(const std::vector<Schedule>& schedules, const ChunkSizes& sizes) {
    Sent sent;
    for (const Schedule& schedule : schedules) {
        sent.bytes.push_back(0);
        sent.messages.push_back(0);
        for (const Step& step : schedule.steps) {
            if (step.kind != StepKind::send) continue;
            sent.bytes.back() += sizes.size_bytes(step.like, step.length);
            ++sent.messages.back();
        }
    }
    return sent;
}

template<typename T>
std::vector<T> for_each_rank(int size, T value) {
    return std::vector<T>(static_cast<std::size_t>(size), value);
}

}  // namespace

TEST_CASE("kinds: every rank gets what its operation promises, in that order", "[collectives]") {
    for (const Algorithm& algorithm : algorithms()) {
        if (!is_new_kind(algorithm.collective)) continue;
        for (std::int32_t size = 1; size <= 17; ++size) {
            for (Placements placements : placements_of(algorithm.collective)) {
                const auto schedules = all_ranks(algorithm, size, 0, placements);
                Replay replay(schedules);
                for (const Schedule& schedule : schedules) {
                    INFO(
                        name_of(algorithm.collective)
                        << ' ' << algorithm.name << " p " << size << " rank " << schedule.shape.rank
                        << " placement " << static_cast<int>(placements)
                    );
                    std::uint32_t chunk = 0;
                    for (const Names& expected : expected_outputs(schedule)) {
                        Names held = replay.output(schedule.shape.rank, chunk++);
                        if (algorithm.operand_order == OperandOrder::any) std::ranges::sort(held);
                        CHECK((held == expected));
                    }
                }
            }
        }
    }
}

TEST_CASE("kinds: an exclusive scan leaves rank 0 without output", "[collectives]") {
    for (const char* name : {"linear", "recursive_doubling"}) {
        const auto schedules = separate_ranks(Collective::exscan, name, 5);
        for (const Step& step : schedules[0].steps) CHECK(step.kind == StepKind::send);
    }
}

TEST_CASE("kinds: each rank sends G(n-1)/n in a reduce-scatter of G bytes", "[collectives]") {
    constexpr std::uint64_t total_bytes = 5040;
    for (int size : {2, 3, 5, 6, 7, 8, 9}) {
        const auto count = static_cast<std::uint64_t>(size);
        const ChunkSizes sizes = ChunkSizes::block(total_bytes / count);
        for (const char* name : {"ring", "pairwise", "recursive_halving", "circulant", "bruck"}) {
            INFO(name << " p " << size);
            const auto schedules = separate_ranks(Collective::reduce_scatter, name, size);
            CHECK(
                sent_by(schedules, sizes).bytes ==
                for_each_rank(size, total_bytes - total_bytes / count)
            );
        }
    }
}

TEST_CASE(
    "kinds: reduce-scatters differ in messages and in how many wait for others", "[collectives]"
) {
    const ChunkSizes sizes = ChunkSizes::block(1);
    auto messages = [&](const char* name, int size) {
        return sent_by(separate_ranks(Collective::reduce_scatter, name, size), sizes).messages;
    };
    auto depth = [](const char* name, int size) {
        const auto schedules = separate_ranks(Collective::reduce_scatter, name, size);
        return Replay(schedules).depth();
    };
    CHECK(messages("ring", 6) == for_each_rank(6, 5U));
    CHECK(depth("ring", 6) == 5);
    CHECK(messages("pairwise", 6) == for_each_rank(6, 5U));
    CHECK(depth("pairwise", 6) == 1);
    // ceil(log2 p) for p = 2 .. 9.
    const std::vector<std::uint32_t> expected{1, 2, 2, 3, 3, 3, 3, 4};
    for (int size = 2; size <= 9; ++size) {
        const std::uint32_t log = expected[static_cast<std::size_t>(size - 2)];
        INFO("p " << size);
        for (const char* name : {"circulant", "bruck"}) {
            CHECK(messages(name, size) == for_each_rank(size, log));
            CHECK(depth(name, size) <= log);
        }
        for (std::uint32_t sent : messages("recursive_halving", size)) CHECK(sent <= log);
        CHECK(depth("recursive_halving", size) <= log);
    }
    // [0..4] splits into [0..2] [3 4]; of [0..2] 0 and 1 go on, 2 is done.
    CHECK(messages("recursive_halving", 5) == std::vector<std::uint32_t>{3, 3, 2, 2, 2});
    CHECK(messages("recursive_halving", 8) == for_each_rank(8, 3U));
}

TEST_CASE("kinds: all-to-alls trade rounds for volume", "[collectives]") {
    constexpr std::uint64_t block_bytes = 10;
    const ChunkSizes sizes = ChunkSizes::block(block_bytes);
    for (const char* name : {"linear", "pairwise"}) {
        const auto schedules = separate_ranks(Collective::alltoall, name, 6);
        CHECK(sent_by(schedules, sizes).bytes == for_each_rank(6, 5 * block_bytes));
        CHECK(sent_by(schedules, sizes).messages == for_each_rank(6, 5U));
    }
    // How many of the numbers below p have the first, the second, … bit set, added up.
    struct Bruck {
        int size;
        std::uint32_t rounds;
        std::uint64_t blocks;
    };
    const std::vector<Bruck> cases{{2, 1, 1}, {3, 2, 2},  {4, 2, 4},  {5, 3, 5},  {6, 3, 7},
                                   {7, 3, 9}, {8, 3, 12}, {9, 4, 13}, {16, 4, 32}};
    for (const Bruck& bruck : cases) {
        INFO("bruck p " << bruck.size);
        const auto schedules = separate_ranks(Collective::alltoall, "bruck", bruck.size);
        CHECK(Replay(schedules).depth() <= bruck.rounds);
        const Sent sent = sent_by(schedules, sizes);
        CHECK(sent.messages == for_each_rank(bruck.size, bruck.rounds));
        CHECK(sent.bytes == for_each_rank(bruck.size, bruck.blocks * block_bytes));
    }
}

TEST_CASE("kinds: a pairwise all-to-all has one message each way under way", "[collectives]") {
    const auto schedules = separate_ranks(Collective::alltoall, "pairwise", 6);
    for (const Schedule& schedule : schedules) CHECK(schedule.window == 1);
}

TEST_CASE("kinds: scans send a vector each, or one per round", "[collectives]") {
    constexpr std::uint64_t total_bytes = 600;
    for (Collective collective : {Collective::scan, Collective::exscan}) {
        const auto chain = separate_ranks(collective, "linear", 6);
        const Sent linear = sent_by(chain, ChunkSizes::split(total_bytes, 1, 6));
        CHECK(linear.bytes == std::vector<std::uint64_t>{600, 600, 600, 600, 600, 0});
        CHECK(linear.messages == std::vector<std::uint32_t>{6, 6, 6, 6, 6, 0});
        const auto doubling = separate_ranks(collective, "recursive_doubling", 6);
        const Sent doubled = sent_by(doubling, ChunkSizes::split(total_bytes, 1, 1));
        CHECK(doubled.bytes == std::vector<std::uint64_t>{1800, 1800, 1200, 1200, 600, 0});
        CHECK(doubled.messages == std::vector<std::uint32_t>{3, 3, 2, 2, 1, 0});
        CHECK(Replay(chain).depth() == 5);
        CHECK(Replay(doubling).depth() <= 3);
    }
}

}  // namespace dlrt::coll
