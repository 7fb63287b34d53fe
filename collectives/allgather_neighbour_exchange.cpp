// SPDX-License-Identifier: Apache-2.0
/// Neighbour exchange: pairs of neighbours swap blocks, then everybody alternates between both
/// neighbours and passes on the two blocks that came last. For odd p, ranks 0 and 1 act as one:
/// rank 1 exchanges, and hands to rank 0 what arrives.
///
/// Cost p/2 (alpha + 2 n/p beta) for even p, half of the ring's rounds with the same volume; for
/// odd p two messages more on the way, and rank 1 sends twice the volume. Best for long blocks
/// where neighbours are near. Source: Chen, Zhang, Zhang, Yuan, "Performance evaluation of
/// allgather algorithms on terascale Linux cluster with fast ethernet", 2005.
///
///   p = 6, rank 0 receives:   1 from 1   4 5 from 5   2 3 from 1
#include "collectives/algorithms.hpp"
#include "collectives/fold.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {
namespace {

struct Round {
    std::int32_t peer;
    Slice sent;
    Slice received;
};

// REQUIRES: fold.count() is even and not zero.
std::vector<Round> rounds_of(const Fold& fold, std::int32_t number) {
    const std::int32_t pair_count = fold.count() / 2;
    const bool is_even = number % 2 == 0;
    auto own_blocks = [&](std::int32_t of_number) {
        return output_blocks(fold.first_rank(of_number), fold.first_rank(of_number + 1));
    };
    auto pair_blocks = [&](std::int32_t pair) {
        return output_blocks(fold.first_rank(2 * pair), fold.first_rank(2 * pair + 2));
    };
    std::vector<Round> rounds{
        {fold.rank_of(number ^ 1), own_blocks(number), own_blocks(number ^ 1)}};
    std::int32_t last_pair = number / 2;
    for (std::int32_t round = 1; round < pair_count; ++round) {
        const bool goes_up = is_even == (round % 2 == 0);
        const std::int32_t neighbour = number + (goes_up ? 1 : -1) + fold.count();
        const std::int32_t away = (round + 1) / 2;
        const std::int32_t pair = (number / 2 + (goes_up ? away : -away) + pair_count) % pair_count;
        rounds.push_back(
            {fold.rank_of(neighbour % fold.count()), pair_blocks(last_pair), pair_blocks(pair)}
        );
        last_pair = pair;
    }
    return rounds;
}

}  // namespace

Schedule allgather_neighbour_exchange(const Shape& shape) {
    const std::int32_t size = shape.size;
    const std::int32_t rank = shape.rank;
    ScheduleBuilder builder(
        {Collective::allgather, "neighbour_exchange", ChunkRule::block,
         static_cast<std::uint32_t>(size)},
        shape
    );
    const Slice home = output_blocks(rank, rank + 1);
    if (shape.placement == Placement::separate) builder.copy(input_slice(0), home);
    if (size == 1) return std::move(builder).finish();
    const Fold fold(size, size - size % 2);
    const std::int32_t partner = fold.is_paired(rank) ? Fold::partner_of(rank) : -1;
    const bool is_out = fold.is_out(rank);
    if (is_out) builder.send(partner, home);
    if (partner >= 0) builder.recv(partner, output_blocks(partner, partner + 1));
    if (partner >= 0 && !is_out) builder.send(partner, home);
    for (const Round& round : rounds_of(fold, fold.number_of(rank))) {
        builder.recv(is_out ? partner : round.peer, round.received);
        if (is_out) continue;
        builder.send(round.peer, round.sent);
        if (partner >= 0) builder.send(partner, round.received);
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
