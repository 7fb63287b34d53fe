// SPDX-License-Identifier: Apache-2.0
/// Tests the verifier on wrong schedules of reduce_scatter, alltoall, scan and exscan, and on
/// broken windows: each is right but for one thing.
#include "collectives/schedule_builder.hpp"
#include "collectives/verify.hpp"

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

constexpr OperandOrder any = OperandOrder::any;
constexpr OperandOrder by_rank = OperandOrder::by_rank;

std::optional<FaultKind> kind_of_fault(const std::vector<Schedule>& schedules) {
    const auto fault = find_fault(schedules);
    const auto at_random = find_fault(schedules, Proof::random);
    CHECK(at_random.has_value() == fault.has_value());
    if (!fault || !at_random) return std::nullopt;
    CHECK(at_random->kind == fault->kind);
    CHECK_FALSE(fault->text.empty());
    return fault->kind;
}

// The builders of all ranks, in which a case writes one operation.
struct Ranks {
    Ranks(
        const ScheduleBuilder::Header& header, std::int32_t size,
        Placement placement = Placement::separate
    ) {
        for (std::int32_t rank = 0; rank < size; ++rank)
            builders.emplace_back(header, Shape{size, rank, 0, placement});
    }
    ScheduleBuilder& operator[](std::size_t rank) { return builders[rank]; }
    std::optional<FaultKind> fault() {
        std::vector<Schedule> schedules;
        for (ScheduleBuilder& builder : builders) schedules.push_back(std::move(builder).finish());
        return kind_of_fault(schedules);
    }
    std::vector<ScheduleBuilder> builders;
};

ScheduleBuilder::Header scan_of_three(OperandOrder order) {
    return {Collective::scan, "by_hand", ChunkRule::split, 1, order};
}

// Rank 1 gets the input of rank 0, rank 2 those of both others.
void send_all_up(Ranks& ranks) {
    ranks[0].send(1, input_slice(0));
    ranks[0].send(2, input_slice(0));
    ranks[0].copy(input_slice(0), output_slice(0));
    ranks[1].recv(0, scratch_slice(0));
    ranks[1].send(2, input_slice(0));
    ranks[2].recv(0, scratch_slice(0));
    ranks[2].recv(1, scratch_slice(1));
}

}  // namespace

TEST_CASE(
    "verify: accepts a scan written by hand, and only in the order of ranks", "[collectives]"
) {
    // The order counts even where the schedule claims that it needs none.
    const OperandOrder order = GENERATE(OperandOrder::by_rank, OperandOrder::any);
    Ranks ranks(scan_of_three(order), 3);
    send_all_up(ranks);
    ranks[1].reduce(scratch_slice(0), input_slice(0), output_slice(0));
    SECTION("0 1 2") {
        ranks[2].reduce(scratch_slice(0), scratch_slice(1), scratch_slice(0));
        ranks[2].reduce(scratch_slice(0), input_slice(0), output_slice(0));
        CHECK_FALSE(ranks.fault().has_value());
    }
    SECTION("1 0 2") {
        ranks[2].reduce(scratch_slice(1), scratch_slice(0), scratch_slice(0));
        ranks[2].reduce(scratch_slice(0), input_slice(0), output_slice(0));
        CHECK(ranks.fault() == FaultKind::result);
    }
    SECTION("0 2 1") {
        ranks[2].reduce(scratch_slice(0), input_slice(0), scratch_slice(0));
        ranks[2].reduce(scratch_slice(0), scratch_slice(1), output_slice(0));
        CHECK(ranks.fault() == FaultKind::result);
    }
}

TEST_CASE("verify: a scan whose ranks hold other prefixes is a wrong result", "[collectives]") {
    Ranks ranks(scan_of_three(by_rank), 3);
    send_all_up(ranks);
    SECTION("rank 1 leaves out its own") {
        ranks[1].copy(scratch_slice(0), output_slice(0));
        ranks[2].reduce(scratch_slice(0), scratch_slice(1), scratch_slice(0));
        ranks[2].reduce(scratch_slice(0), input_slice(0), output_slice(0));
    }
    SECTION("rank 2 leaves out rank 1") {
        ranks[1].reduce(scratch_slice(0), input_slice(0), output_slice(0));
        ranks[2].reduce(scratch_slice(0), input_slice(0), output_slice(0));
    }
    SECTION("rank 1 has as many as it should, but rank 2 for rank 0") {
        ranks[2].send(1, input_slice(0));
        ranks[1].recv(2, scratch_slice(1));
        ranks[1].reduce(input_slice(0), scratch_slice(1), output_slice(0));
        ranks[2].reduce(scratch_slice(0), scratch_slice(1), scratch_slice(0));
        ranks[2].reduce(scratch_slice(0), input_slice(0), output_slice(0));
    }
    SECTION("rank 2 leaves out rank 0") {
        ranks[1].reduce(scratch_slice(0), input_slice(0), output_slice(0));
        ranks[2].reduce(scratch_slice(1), input_slice(0), output_slice(0));
    }
    CHECK(ranks.fault() == FaultKind::result);
}

TEST_CASE("verify: a full reduction is no scan, and a scan no full reduction", "[collectives]") {
    const bool is_scan = GENERATE(true, false);
    const bool has_prefixes = GENERATE(true, false);
    const Collective collective = is_scan ? Collective::scan : Collective::allreduce;
    Ranks ranks({collective, "by_hand", ChunkRule::split, 1, by_rank}, 2);
    ranks[0].send(1, input_slice(0));
    ranks[1].recv(0, scratch_slice(0));
    ranks[1].reduce(scratch_slice(0), input_slice(0), output_slice(0));
    if (has_prefixes) {
        ranks[0].copy(input_slice(0), output_slice(0));
    } else {
        ranks[1].send(0, output_slice(0));
        ranks[0].recv(1, output_slice(0));
    }
    CHECK(ranks.fault().has_value() == (is_scan != has_prefixes));
}

TEST_CASE("verify: an exclusive scan has no own part and leaves rank 0 alone", "[collectives]") {
    const ScheduleBuilder::Header header{
        Collective::exscan, "by_hand", ChunkRule::split, 1, by_rank};
    SECTION("right") {
        Ranks ranks(header, 2);
        ranks[0].send(1, input_slice(0));
        ranks[1].recv(0, output_slice(0));
        CHECK_FALSE(ranks.fault().has_value());
    }
    SECTION("rank 1 adds its own") {
        Ranks ranks(header, 2);
        ranks[0].send(1, input_slice(0));
        ranks[1].recv(0, output_slice(0));
        ranks[1].reduce(output_slice(0), input_slice(0), output_slice(0));
        CHECK(ranks.fault() == FaultKind::result);
    }
    SECTION("rank 0 writes an output that need not be there") {
        Ranks ranks(header, 2);
        ranks[0].send(1, input_slice(0));
        ranks[0].copy(input_slice(0), output_slice(0));
        ranks[1].recv(0, output_slice(0));
        CHECK(ranks.fault() == FaultKind::bounds);
    }
}

TEST_CASE("verify: an exclusive scan in place keeps the buffer of rank 0", "[collectives]") {
    const bool restores = GENERATE(true, false);
    Ranks ranks(
        {Collective::exscan, "by_hand", ChunkRule::split, 1, by_rank}, 2, Placement::in_place
    );
    ranks[0].recv(1, scratch_slice(0));
    ranks[0].send(1, output_slice(0));
    ranks[1].copy(output_slice(0), scratch_slice(0));
    ranks[1].send(0, scratch_slice(0));
    ranks[1].recv(0, output_slice(0));
    if (!restores) ranks[0].copy(scratch_slice(0), output_slice(0));
    CHECK(ranks.fault().has_value() == !restores);
}

TEST_CASE("verify: a reduce-scatter gives each rank its own block, of all ranks", "[collectives]") {
    Ranks ranks({Collective::reduce_scatter, "by_hand", ChunkRule::block, 2, any}, 2);
    auto swap = [&](std::uint32_t sent_by_0, std::uint32_t sent_by_1) {
        ranks[0].send(1, input_slice(sent_by_0));
        ranks[0].recv(1, scratch_slice(0));
        ranks[1].send(0, input_slice(sent_by_1));
        ranks[1].recv(0, scratch_slice(0));
    };
    SECTION("right") {
        swap(1, 0);
        ranks[0].reduce(input_slice(0), scratch_slice(0), output_slice(0));
        ranks[1].reduce(scratch_slice(0), input_slice(1), output_slice(0));
        CHECK_FALSE(ranks.fault().has_value());
    }
    SECTION("each the other's block") {
        swap(0, 1);
        ranks[0].reduce(input_slice(1), scratch_slice(0), output_slice(0));
        ranks[1].reduce(scratch_slice(0), input_slice(0), output_slice(0));
        CHECK(ranks.fault() == FaultKind::result);
    }
    SECTION("blocks of two kinds added") {
        swap(1, 0);
        ranks[0].reduce(input_slice(1), scratch_slice(0), output_slice(0));
        ranks[1].reduce(scratch_slice(0), input_slice(1), output_slice(0));
        CHECK(ranks.fault() == FaultKind::result);
    }
    SECTION("one rank's own part is missing") {
        swap(1, 0);
        ranks[0].reduce(input_slice(0), scratch_slice(0), output_slice(0));
        ranks[1].copy(scratch_slice(0), output_slice(0));
        CHECK(ranks.fault() == FaultKind::result);
    }
    SECTION("a second block in an output of one") {
        swap(1, 0);
        ranks[0].reduce(input_slice(0), scratch_slice(0), output_slice(0));
        ranks[1].reduce(scratch_slice(0), input_slice(1), output_slice(1));
        CHECK(ranks.fault() == FaultKind::bounds);
    }
}

TEST_CASE("verify: a reduce-scatter in place ends in the first block", "[collectives]") {
    const std::uint32_t target = GENERATE(0U, 1U);
    Ranks ranks(
        {Collective::reduce_scatter, "by_hand", ChunkRule::block, 2, any}, 2, Placement::in_place
    );
    ranks[0].send(1, output_slice(1));
    ranks[0].recv(1, scratch_slice(0));
    ranks[0].reduce(output_slice(0), scratch_slice(0), output_slice(0));
    ranks[1].send(0, output_slice(0));
    ranks[1].recv(0, scratch_slice(0));
    ranks[1].reduce(scratch_slice(0), output_slice(1), output_slice(target));
    const auto fault = ranks.fault();
    CHECK(fault.has_value() == (target == 1));
    CHECK(fault.value_or(FaultKind::result) == FaultKind::result);
}

TEST_CASE("verify: a reduce-scatter that claims the order of ranks must keep it", "[collectives]") {
    const OperandOrder order = GENERATE(OperandOrder::by_rank, OperandOrder::any);
    Ranks ranks({Collective::reduce_scatter, "by_hand", ChunkRule::block, 2, order}, 2);
    ranks[0].send(1, input_slice(1));
    ranks[0].recv(1, scratch_slice(0));
    ranks[0].reduce(input_slice(0), scratch_slice(0), output_slice(0));
    ranks[1].send(0, input_slice(0));
    ranks[1].recv(0, scratch_slice(0));
    ranks[1].reduce(input_slice(1), scratch_slice(0), output_slice(0));
    CHECK(ranks.fault().has_value() == (order == by_rank));
}

TEST_CASE("verify: an all-to-all brings every block to its place", "[collectives]") {
    Ranks ranks({Collective::alltoall, "by_hand", ChunkRule::block, 2, by_rank}, 2);
    ranks[0].copy(input_slice(0), output_slice(0));
    ranks[0].recv(1, output_slice(1));
    ranks[1].copy(input_slice(1), output_slice(1));
    ranks[1].recv(0, output_slice(0));
    SECTION("right") {
        ranks[0].send(1, input_slice(1));
        ranks[1].send(0, input_slice(0));
        CHECK_FALSE(ranks.fault().has_value());
    }
    SECTION("each sends the block that it keeps") {
        ranks[0].send(1, input_slice(0));
        ranks[1].send(0, input_slice(1));
        CHECK(ranks.fault() == FaultKind::result);
    }
}

TEST_CASE(
    "verify: an all-to-all in place may not send what it has received over", "[collectives]"
) {
    const bool saves = GENERATE(true, false);
    Ranks ranks(
        {Collective::alltoall, "by_hand", ChunkRule::block, 2, by_rank}, 2, Placement::in_place
    );
    ranks[0].copy(output_slice(1), scratch_slice(0));
    ranks[0].recv(1, output_slice(1));
    ranks[0].send(1, saves ? scratch_slice(0) : output_slice(1));
    ranks[1].copy(output_slice(0), scratch_slice(0));
    ranks[1].send(0, scratch_slice(0));
    ranks[1].recv(0, output_slice(0));
    CHECK(ranks.fault() == (saves ? std::nullopt : std::optional(FaultKind::result)));
}

TEST_CASE("verify: a rank keeps the window that it promises", "[collectives]") {
    const std::uint32_t window = GENERATE(0U, 1U, 2U, 3U);
    const bool is_ordered = GENERATE(true, false);
    Ranks ranks({Collective::scatter, "by_hand", ChunkRule::block, 4, by_rank, window}, 4);
    std::vector<ScheduleBuilder::StepIndex> sends;
    for (std::int32_t peer = 1; peer < 4; ++peer) {
        sends.push_back(ranks[0].send(peer, input_slice(static_cast<std::uint32_t>(peer))));
        ranks[static_cast<std::size_t>(peer)].recv(0, output_slice(0));
    }
    ranks[0].copy(input_slice(0), output_slice(0));
    // The third after the first: never more than two.
    if (is_ordered) ranks[0].order(sends[0], sends[2]);
    const bool is_kept = window == 0 || window == 3 || (window == 2 && is_ordered);
    CHECK(ranks.fault() == (is_kept ? std::nullopt : std::optional(FaultKind::window)));
}

}  // namespace dlrt::coll
