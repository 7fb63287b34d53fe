// SPDX-License-Identifier: Apache-2.0
/// What algorithms send, against counts worked out by hand.
#include "tests/collectives/all_ranks.hpp"
#include "tests/collectives/replay.hpp"

#include <ostream>
#include <utility>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

std::ostream& operator<<(std::ostream& stream, const Traffic& traffic) {
    return stream << traffic.messages << " messages, " << traffic.bytes << " bytes";
}

// Vectors of this many bytes are cut evenly by every count of chunks used here, and so are blocks.
constexpr std::uint64_t total_bytes = 32 * 9 * 5 * 7 * 11;

Traffic traffic_of(const Schedule& schedule, StepKind kind) {
    const auto count = static_cast<std::uint64_t>(schedule.shape.size);
    const ChunkSizes sizes = schedule.chunk_rule == ChunkRule::split
                                 ? ChunkSizes::split(total_bytes, 1, schedule.chunk_count)
                                 : ChunkSizes::block(total_bytes / count);
    Traffic traffic;
    for (const Step& step : schedule.steps) {
        if (step.kind != kind) continue;
        ++traffic.messages;
        traffic.bytes += sizes.size_bytes(step.like, step.length);
    }
    return traffic;
}

std::vector<Schedule> schedules_of(
    Collective collective, std::string_view name, std::int32_t size, std::int32_t root = 0
) {
    const Algorithm* algorithm = find_algorithm(collective, name);
    REQUIRE(algorithm != nullptr);
    return all_ranks(*algorithm, size, root, Placements::none);
}

Traffic total_sent(const std::vector<Schedule>& schedules) {
    Traffic sum;
    for (const Schedule& schedule : schedules) {
        const Traffic sent = traffic_of(schedule, StepKind::send);
        sum.messages += sent.messages;
        sum.bytes += sent.bytes;
    }
    return sum;
}

std::size_t depth_of(const std::vector<Schedule>& schedules) {
    return Replay(schedules).depth();
}

std::size_t rounds_for(std::int32_t size) {
    std::size_t rounds = 0;
    while ((std::int32_t{1} << rounds) < size) ++rounds;
    return rounds;
}

}  // namespace

TEST_CASE("volumes: reduce-scatter and all-gather send twice n (p-1)/p", "[collectives]") {
    for (std::int32_t size : {2, 3, 5, 6, 7, 9, 12}) {
        const auto schedules = schedules_of(Collective::allreduce, "circulant", size);
        const auto count = static_cast<std::uint64_t>(size);
        for (const Schedule& schedule : schedules) {
            const Traffic sent = traffic_of(schedule, StepKind::send);
            CHECK(sent.bytes == 2 * total_bytes * (count - 1) / count);
            CHECK(sent.messages >= 2 * rounds_for(size));
            CHECK(sent.messages <= 4 * rounds_for(size));
        }
        CHECK(depth_of(schedules) <= 2 * rounds_for(size));
    }
    for (std::int32_t size : {2, 4, 8}) {
        const auto schedules = schedules_of(Collective::allreduce, "rabenseifner", size);
        const auto count = static_cast<std::uint64_t>(size);
        for (const Schedule& schedule : schedules) {
            const Traffic expected{2 * rounds_for(size), 2 * total_bytes * (count - 1) / count};
            CHECK(traffic_of(schedule, StepKind::send) == expected);
        }
        CHECK(depth_of(schedules) == 2 * rounds_for(size));
    }
}

TEST_CASE("volumes: folding six ranks to four sends the vector there and back", "[collectives]") {
    const auto schedules = schedules_of(Collective::allreduce, "rabenseifner", 6);
    const std::uint64_t among_four = 2 * total_bytes * 3 / 4;
    CHECK(traffic_of(schedules[0], StepKind::send) == Traffic{1, total_bytes});
    CHECK(traffic_of(schedules[1], StepKind::send) == Traffic{5, total_bytes + among_four});
    CHECK(traffic_of(schedules[4], StepKind::send) == Traffic{4, among_four});
    CHECK(depth_of(schedules) == 6);
}

TEST_CASE("volumes: trees send the vector along each edge, up and down", "[collectives]") {
    // Of five ranks, none is more than two edges below rank 0: 0>3>4, 0>2, 0>1.
    for (const auto& [size, depth] : {std::pair{2, 1u}, {5, 2u}, {8, 3u}}) {
        const auto edges = static_cast<std::uint64_t>(size - 1);
        const auto tree = schedules_of(Collective::allreduce, "tree", size);
        const auto star = schedules_of(Collective::allreduce, "centralised", size);
        CHECK(total_sent(tree) == Traffic{2 * edges, 2 * edges * total_bytes});
        CHECK(depth_of(tree) == 2 * depth);
        CHECK(total_sent(star) == Traffic{2 * edges, 2 * edges * total_bytes});
        CHECK(traffic_of(star[0], StepKind::recv) == Traffic{edges, edges * total_bytes});
        const auto twins = schedules_of(Collective::allreduce, "two_tree", size);
        CHECK(total_sent(twins) == Traffic{2 * 32 * edges, 2 * edges * total_bytes});
        for (const Schedule& schedule : twins)
            CHECK(traffic_of(schedule, StepKind::send).bytes <= 2 * total_bytes);
    }
}

TEST_CASE("volumes: a chain passes on 32 chunks at each rank but the last", "[collectives]") {
    const auto down = schedules_of(Collective::bcast, "chain", 5, 3);
    for (std::size_t rank : {3u, 4u, 0u, 1u})
        CHECK(traffic_of(down[rank], StepKind::send) == Traffic{32, total_bytes});
    CHECK(traffic_of(down[2], StepKind::send) == Traffic{0, 0});
    const auto to_end = schedules_of(Collective::reduce, "chain", 5, 0);
    CHECK(total_sent(to_end) == Traffic{4 * 32, 4 * total_bytes});
    CHECK(traffic_of(to_end[0], StepKind::recv) == Traffic{32, total_bytes});
    const auto to_middle = schedules_of(Collective::reduce, "chain", 5, 1);
    CHECK(total_sent(to_middle) == Traffic{4 * 32, 4 * total_bytes});
    CHECK(traffic_of(to_middle[1], StepKind::recv) == Traffic{2 * 32, 2 * total_bytes});
}

TEST_CASE(
    "volumes: a broadcast on a circulant graph sends each block once to each rank, in the fewest "
    "rounds",
    "[collectives]"
) {
    for (std::int32_t size : {1, 2, 3, 5, 6, 8, 13, 32, 33}) {
        const auto schedules = schedules_of(Collective::bcast, "circulant", size, size / 2);
        const auto others = static_cast<std::uint64_t>(size - 1);
        CHECK(total_sent(schedules) == Traffic{32 * others, others * total_bytes});
        // One message each way per round.
        const std::size_t rounds = size == 1 ? 0 : 32 - 1 + rounds_for(size);
        for (const Schedule& schedule : schedules)
            CHECK(traffic_of(schedule, StepKind::send).messages <= rounds);
        CHECK(depth_of(schedules) <= rounds);
    }
}

TEST_CASE(
    "volumes: a reduction on a circulant graph passes each block on once, in the fewest rounds",
    "[collectives]"
) {
    for (std::int32_t size : {1, 2, 3, 5, 6, 8, 13, 32, 33}) {
        const auto schedules = schedules_of(Collective::reduce, "circulant", size, size / 2);
        const auto others = static_cast<std::uint64_t>(size - 1);
        CHECK(total_sent(schedules) == Traffic{32 * others, others * total_bytes});
        const std::size_t rounds = size == 1 ? 0 : 32 - 1 + rounds_for(size);
        for (const Schedule& schedule : schedules)
            CHECK(traffic_of(schedule, StepKind::recv).messages <= rounds);
        CHECK(depth_of(schedules) <= rounds);
    }
}

TEST_CASE(
    "volumes: a circulant broadcast to six ranks begins as worked out by hand", "[collectives]"
) {
    // Over distances 1 2 3 rank 1 gets blocks 0 -2 -1, rank 3 blocks -2 -3 2, each time 3 more. Two
    // rounds are left out, so that the first is over distance 3, and all numbers are 2 less.
    const auto schedules = schedules_of(Collective::bcast, "circulant", 6);
    auto first_blocks = [&](std::size_t rank, std::size_t count) {
        std::vector<std::uint32_t> blocks;
        for (const Step& step : schedules[rank].steps) {
            if (step.kind == StepKind::recv && blocks.size() < count) {
                blocks.push_back(step.target.chunk);
            }
        }
        return blocks;
    };
    using Blocks = std::vector<std::uint32_t>;
    CHECK(first_blocks(3, 1) == Blocks{0});
    CHECK(first_blocks(1, 4) == Blocks{1, 0, 4, 2});
}

TEST_CASE("volumes: a broadcast by scatter leaves out what receivers have", "[collectives]") {
    // Scatter: 0>2 half, 0>1 and 2>3 a quarter. Around: 3 quarters to 1, 2 to 2, 3 to 3, none to 0.
    const auto schedules = schedules_of(Collective::bcast, "scatter_allgather", 4);
    const std::uint64_t quarter = total_bytes / 4;
    CHECK(traffic_of(schedules[0], StepKind::send) == Traffic{5, 6 * quarter});
    CHECK(traffic_of(schedules[1], StepKind::send) == Traffic{2, 2 * quarter});
    CHECK(traffic_of(schedules[2], StepKind::send) == Traffic{4, 4 * quarter});
    CHECK(traffic_of(schedules[3], StepKind::send) == Traffic{0, 0});
}

TEST_CASE("volumes: a tree of radix 4 is half as deep as one of radix 2", "[collectives]") {
    for (const auto collective : {Collective::bcast, Collective::reduce}) {
        for (const auto& [size, depth] : {std::pair{4, 1u}, {16, 2u}, {64, 3u}}) {
            const auto schedules = schedules_of(collective, "knomial", size);
            const auto edges = static_cast<std::uint64_t>(size - 1);
            CHECK(total_sent(schedules) == Traffic{edges, edges * total_bytes});
            if (collective == Collective::bcast) CHECK(depth_of(schedules) == depth);
        }
    }
}

TEST_CASE("volumes: a reduction by halves gathers at the root", "[collectives]") {
    // Halving: 3 messages and 7/8 of the vector from each. Gather: 4 of 1/8, 2 of 1/4, 1 of 1/2.
    for (std::int32_t root : {0, 5}) {
        const auto schedules = schedules_of(Collective::reduce, "rabenseifner", 8, root);
        CHECK(total_sent(schedules) == Traffic{24 + 7, 7 * total_bytes + total_bytes * 3 / 2});
        CHECK(depth_of(schedules) == 6);
    }
    // The root's pair is folded into the root: nothing has to be sent on to it.
    const auto folded = schedules_of(Collective::reduce, "rabenseifner", 3, 0);
    CHECK(total_sent(folded) == Traffic{1 + 2 + 1, total_bytes * 5 / 2});
}

TEST_CASE("volumes: every all-gather sends n (p-1)/p from each rank", "[collectives]") {
    for (std::int32_t size : {2, 4, 8, 16}) {
        const auto count = static_cast<std::uint64_t>(size);
        const std::uint64_t bytes = total_bytes * (count - 1) / count;
        const auto doubling = schedules_of(Collective::allgather, "recursive_doubling", size);
        const auto circulant = schedules_of(Collective::allgather, "circulant", size);
        const auto exchange = schedules_of(Collective::allgather, "neighbour_exchange", size);
        const auto linear = schedules_of(Collective::allgather, "linear", size);
        for (std::size_t rank = 0; rank < count; ++rank) {
            const Traffic by_doubling{rounds_for(size), bytes};
            CHECK(traffic_of(doubling[rank], StepKind::send) == by_doubling);
            CHECK(traffic_of(circulant[rank], StepKind::send).bytes == bytes);
            CHECK(traffic_of(exchange[rank], StepKind::send) == Traffic{count / 2, bytes});
            CHECK(traffic_of(linear[rank], StepKind::send) == Traffic{count - 1, bytes});
        }
        CHECK(depth_of(doubling) == rounds_for(size));
        CHECK(depth_of(circulant) == rounds_for(size));
        CHECK(depth_of(exchange) == count / 2);
        CHECK(depth_of(linear) == 1);
    }
}

TEST_CASE("volumes: in a neighbour exchange of seven, rank 1 hands on to rank 0", "[collectives]") {
    // Its own block, then blocks 0 1, 0 1 2 and two; and to rank 0 what arrives: one, two and two.
    const auto schedules = schedules_of(Collective::allgather, "neighbour_exchange", 7);
    const std::uint64_t block = total_bytes / 7;
    CHECK(traffic_of(schedules[0], StepKind::send) == Traffic{1, block});
    CHECK(traffic_of(schedules[1], StepKind::send) == Traffic{7, 13 * block});
    CHECK(traffic_of(schedules[0], StepKind::recv) == Traffic{4, 6 * block});
}

TEST_CASE("volumes: a central barrier is two messages deep", "[collectives]") {
    const auto schedules = schedules_of(Collective::barrier, "central", 9);
    CHECK(total_sent(schedules) == Traffic{16, 0});
    CHECK(traffic_of(schedules[0], StepKind::send).messages == 8);
    CHECK(traffic_of(schedules[8], StepKind::send).messages == 1);
}

}  // namespace dlrt::coll
