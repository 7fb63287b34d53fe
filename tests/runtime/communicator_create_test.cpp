// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator_create.hpp"

#include "runtime/collective.hpp"
#include "tests/runtime/engine_cluster.hpp"

#include <array>
#include <atomic>
#include <numeric>
#include <string>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;
using Ranks = std::vector<std::int32_t>;

GroupRef group_of(std::vector<WorldRank> members) {
    return std::make_shared<const Group>(std::move(members));
}

ContextId next_context() {
    static std::atomic<std::uint64_t> number{100};
    return ContextId{number.fetch_add(2, std::memory_order_relaxed)};
}

constexpr ContextId meeting_context{64};

/// What creating this communicator from nothing gives on a rank.
Status create_on(WorldRank rank, Engine& engine, const GroupRef& group) {
    const Meeting meeting{engine, meeting_context, rank, "test"};
    return create_from_group(meeting, group, next_context).error();
}

}  // namespace

TEST_CASE("split: members are ordered by key, then by rank", "[communicator]") {
    const std::vector<SplitChoice> choices = {
        {7, 3}, {7, -1}, {2, 0}, {std::nullopt, -9}, {7, 3}, {7, 0}, {2, INT32_MIN},
    };
    CHECK(select_members(choices, 7) == Ranks{1, 5, 0, 4});
    CHECK(select_members(choices, 2) == Ranks{6, 2});
    CHECK(select_members(choices, 0).empty());
}

TEST_CASE("split: color 0 is not the absence of a color", "[communicator]") {
    const std::vector<SplitChoice> choices = {{std::nullopt, 0}, {0, 0}, {std::nullopt, 0}};
    CHECK(select_members(choices, 0) == Ranks{1});
}

TEST_CASE("create: nobody waits for a rank that creates something else", "[communicator]") {
    const std::vector<WorldRank> all = {0, 1, 2, 3, 4, 5, 6, 7};
    // 4 is whom 0 tells and who tells 6, who tells 7, and 5.
    const GroupRef others_own = GENERATE(
        group_of({0, 4}), group_of({0, 1, 2, 3, 4, 5, 6}), group_of({0, 4, 6}),
        group_of({0, 1, 2, 3, 4, 5, 6, 7, 8})
    );
    Cluster cluster(9, Wiring{});
    std::array<Status, 9> outcomes{};
    std::array<std::string, 9> texts;
    cluster.run([&](WorldRank rank, Engine& engine) {
        if (rank == 8) return;
        const auto i = static_cast<std::size_t>(rank);
        outcomes[i] = create_on(rank, engine, rank == 4 ? others_own : group_of(all));
        texts[i] = last_error_text();
    });
    for (const std::size_t rank : {0u, 1u, 2u, 3u}) CHECK(outcomes[rank].ok());
    for (const std::size_t rank : {4u, 5u, 6u, 7u}) CHECK(outcomes[rank].code == Errc::mismatch);
    CHECK(texts[4].find("create different communicators") != std::string::npos);
    CHECK(texts[7].find("rank 6 of the new communicator has given it up") != std::string::npos);
}

TEST_CASE("create: the ranks below one that has gone are told", "[communicator]") {
    Cluster cluster(8, Wiring{});
    std::array<Status, 8> outcomes{};
    cluster.run([&](WorldRank rank, Engine& engine) {
        if (rank == 4) return cluster.segment().mark_departed(4);
        const Status outcome = create_on(rank, engine, group_of({0, 1, 2, 3, 4, 5, 6, 7}));
        outcomes[static_cast<std::size_t>(rank)] = outcome;
    });
    for (const std::size_t rank : {1u, 2u, 3u}) CHECK(outcomes[rank].ok());
    for (const std::size_t rank : {5u, 6u, 7u}) CHECK(outcomes[rank].code == Errc::peer_lost);
}

TEST_CASE("create: from any group, and again with the same one", "[communicator]") {
    const auto size = GENERATE(1, 2, 3, 5, 8, 13);
    std::vector<WorldRank> members(static_cast<std::size_t>(size));
    std::iota(members.rbegin(), members.rend(), 0);
    Cluster cluster(static_cast<std::uint32_t>(size), Wiring{});
    cluster.run([&](WorldRank rank, Engine& engine) {
        for (int round = 0; round < 3; ++round) {
            const Meeting meeting{engine, meeting_context, rank, "test"};
            const auto made = create_from_group(meeting, group_of(members), next_context);
            DLRT_DEMAND(made.has_value());
            DLRT_DEMAND((*made)->rank() == size - 1 - rank);
            DLRT_DEMAND(barrier(**made).ok());
        }
    });
}

}  // namespace dlrt
