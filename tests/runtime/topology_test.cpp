// SPDX-License-Identifier: Apache-2.0
/// Communicators with neighbours, and exchanges among these: threads as ranks.
#include "runtime/topology_create.hpp"
#include "tests/runtime/collective_calls.hpp"
#include "tests/runtime/collective_ranks.hpp"

#include <array>
#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;
using Ranks = std::vector<std::int32_t>;
using Numbers = std::vector<std::int64_t>;

ContextId next_context() {
    static std::atomic<std::uint64_t> number{100};
    return ContextId{number.fetch_add(2, std::memory_order_relaxed)};
}

struct OwnLists {
    Ranks sources, targets;
};
using Graph = std::vector<OwnLists>;

Graph random_graph(std::int32_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int32_t> any_rank(0, size - 1);
    Graph graph(static_cast<std::size_t>(size));
    for (std::int32_t i = 0; i < 3 * size; ++i) {
        const std::int32_t from = any_rank(random), to = i % 4 == 0 ? from : any_rank(random);
        for (int copies = i % 3 == 0 ? 2 : 1; copies > 0; --copies) {
            graph[static_cast<std::size_t>(from)].targets.push_back(to);
            graph[static_cast<std::size_t>(to)].sources.push_back(from);
        }
    }
    for (OwnLists& own : graph) std::ranges::shuffle(own.sources, random);
    return graph;
}

/// What the k-th edge from one rank to another carries: a few numbers, or none.
Numbers carried(std::int32_t from, std::int32_t to, std::int64_t k) {
    Numbers numbers(static_cast<std::size_t>((from * 5 + to * 3 + k) % 4));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = from * 1000000 + to * 10000 + k * 100 + static_cast<std::int64_t>(i);
    }
    return numbers;
}

/// The blocks of one side, one after the other.
struct Side {
    Numbers numbers;
    Numbers counts;
};

/// Blocks by edge; `is_output`: others send them.
Side blocks_of(const Ranks& neighbours, std::int32_t self, bool is_output) {
    Side side;
    std::map<std::int32_t, std::int64_t> seen;
    for (const std::int32_t other : neighbours) {
        const std::int64_t k = seen[other]++;
        const Numbers block = is_output ? carried(other, self, k) : carried(self, other, k);
        side.numbers.insert(side.numbers.end(), block.begin(), block.end());
        side.counts.push_back(static_cast<std::int64_t>(block.size()));
    }
    return side;
}

const LayoutRef& number_layout() {
    return Layout::of(ElementType::int64);
}

Status exchange(
    Communicator& comm, coll::Collective collective, const Side& input, Side& output, Form form
) {
    const LayoutRef* const layout = &number_layout();
    const BlockList inputs{input.counts, {}, BlockList::Unit::extents, {&layout, 1}};
    const BlockList outputs{output.counts, {}, BlockList::Unit::extents, {&layout, 1}};
    CollectiveCall call;
    call.collective = collective;
    call.input = {input.numbers.data(), input.numbers.size(), layout};
    call.output.address = output.numbers.data();
    call.output_list = &outputs;
    if (collective == coll::Collective::neighbor_alltoall) call.input_list = &inputs;
    return perform(comm, call, form);
}

void check_alltoall(Communicator& comm, const OwnLists& own, Form form) {
    const Side input = blocks_of(own.targets, comm.rank(), false);
    const Side right = blocks_of(own.sources, comm.rank(), true);
    Side output{Numbers(right.numbers.size(), -1), right.counts};
    DLRT_DEMAND(exchange(comm, coll::Collective::neighbor_alltoall, input, output, form).ok());
    DLRT_DEMAND(output.numbers == right.numbers);
}

void check_allgather(Communicator& comm, const OwnLists& own, Form form) {
    const std::int64_t rank = comm.rank();
    const Side input{{rank, rank * 10}, {}};
    Side output, right;
    for (const std::int64_t source : own.sources) {
        output.counts.push_back(2);
        right.numbers.insert(right.numbers.end(), {source, source * 10});
    }
    output.numbers.assign(right.numbers.size(), -1);
    DLRT_DEMAND(exchange(comm, coll::Collective::neighbor_allgather, input, output, form).ok());
    DLRT_DEMAND(output.numbers == right.numbers);
}

coll::Grid grid_of(std::vector<coll::Grid::Dimension> dimensions) {
    return coll::Grid(std::move(dimensions));
}

}  // namespace

TEST_CASE("neighbours: exchanges on random graphs, all forms", "[collective]") {
    const auto size = GENERATE(1, 2, 3, 5, 8);
    const auto seed = GENERATE(1u, 2u);
    const Graph graph = random_graph(size, seed);
    CollectiveRanks ranks(size);
    ranks.run([&](Communicator& parent) {
        const OwnLists& own = graph[static_cast<std::size_t>(parent.rank())];
        const auto made = create_graph(parent, {own.sources, own.targets}, next_context);
        DLRT_DEMAND(made.has_value());
        const auto copy = duplicate(**made, next_context);
        DLRT_DEMAND(copy.has_value());
        for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
            check_alltoall(**made, own, form);
            check_allgather(**copy, own, form);
            check_allgather(**made, own, form);
        }
    });
}

TEST_CASE("neighbours: overlapping exchanges are not mixed up", "[collective]") {
    constexpr int count = 20;
    CollectiveRanks ranks(4);
    ranks.run([&](Communicator& parent) {
        const Ranks others = {(parent.rank() + 1) % 4, (parent.rank() + 3) % 4};
        const auto made = create_graph(parent, {others, others}, next_context);
        DLRT_DEMAND(made.has_value());
        Engine& engine = parent.engine();
        std::array<Side, count> inputs, outputs;
        std::vector<Request*> requests;
        const LayoutRef* const layout = &number_layout();
        for (std::size_t i = 0; i < count; ++i) {
            inputs[i].numbers = {parent.rank() * 100 + static_cast<std::int64_t>(i)};
            outputs[i] = {{-1, -1}, {1, 1}};
            const BlockList list{outputs[i].counts, {}, BlockList::Unit::extents, {&layout, 1}};
            CollectiveCall call;
            call.collective = coll::Collective::neighbor_allgather;
            call.input = {inputs[i].numbers.data(), 1, layout};
            call.output.address = outputs[i].numbers.data();
            call.output_list = &list;
            const auto begun = start_collective(*made, call);
            DLRT_DEMAND(begun.has_value());
            requests.push_back(*begun);
        }
        for (Request* const request : requests) {
            engine.wait(request);
            DLRT_DEMAND(outcome_of(*request).ok());
            engine.release(request);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto number = static_cast<std::int64_t>(i);
            DLRT_DEMAND(
                outputs[i].numbers == Numbers({others[0] * 100 + number, others[1] * 100 + number})
            );
        }
    });
}

TEST_CASE("neighbours: an edge that one side counts otherwise fails everywhere", "[collective]") {
    // Only 2 knows of 2 -> 0; 0 and 1 agree on theirs.
    std::array<std::string, 3> texts;
    std::array<Status, 3> outcomes{};
    CollectiveRanks ranks(3);
    ranks.run([&](Communicator& parent) {
        const std::array<OwnLists, 3> lists = {{{{}, {1}}, {{0}, {}}, {{}, {0}}}};
        const auto i = static_cast<std::size_t>(parent.rank());
        const OwnEdges edges{lists[i].sources, lists[i].targets};
        outcomes[i] = create_graph(parent, edges, next_context).error();
        texts[i] = last_error_text();
        // Nothing of it is left.
        DLRT_DEMAND(barrier(parent).ok());
    });
    for (std::size_t rank = 0; rank < 3; ++rank) {
        CHECK(outcomes[rank].code == Errc::mismatch);
        CHECK(
            texts[rank] ==
            "rank 2 names rank 0 1 times among its targets, but rank 0 names rank 2 0 times "
            "among its sources"
        );
    }
}

TEST_CASE("neighbours: on a ring of two each direction has its block", "[collective]") {
    const auto size = GENERATE(1, 2);
    CollectiveRanks ranks(size);
    ranks.run([&](Communicator& parent) {
        const auto made = create_cart(parent, grid_of({{size, true}}), next_context);
        DLRT_DEMAND(made.has_value());
        const std::int64_t other = size - 1 - parent.rank();
        // To the negative neighbour 10 + rank, to the positive one 20 + rank.
        const Side input{{10 + parent.rank(), 20 + parent.rank()}, {1, 1}};
        Side output{{-1, -1}, {1, 1}};
        const auto collective = coll::Collective::neighbor_alltoall;
        DLRT_DEMAND(exchange(**made, collective, input, output, Form::blocking).ok());
        DLRT_DEMAND(output.numbers == Numbers({20 + other, 10 + other}));
    });
}

TEST_CASE("neighbours: blocks beyond a border stay as they are", "[collective]") {
    CollectiveRanks ranks(7);
    ranks.run([&](Communicator& parent) {
        const auto made = create_cart(parent, grid_of({{2, false}, {3, true}}), next_context);
        DLRT_DEMAND(made.has_value());
        DLRT_DEMAND((*made == nullptr) == (parent.rank() == 6));
        if (*made == nullptr) return;
        const std::int64_t rank = (*made)->rank(), row = rank / 3, column = rank % 3;
        DLRT_DEMAND(rank == parent.rank());
        const Side input{{rank}, {}};
        Side output{{-7, -7, -7, -7}, {1, 1, 1, 1}};
        const auto collective = coll::Collective::neighbor_allgather;
        DLRT_DEMAND(exchange(**made, collective, input, output, Form::blocking).ok());
        const Numbers right = {
            row == 0 ? -7 : rank - 3, row == 1 ? -7 : rank + 3, row * 3 + (column + 2) % 3,
            row * 3 + (column + 1) % 3};
        DLRT_DEMAND(output.numbers == right);
    });
}

TEST_CASE("neighbours: ranks that ask for different grids all fail", "[collective]") {
    std::array<Status, 4> outcomes{};
    CollectiveRanks ranks(4);
    ranks.run([&](Communicator& parent) {
        const auto grid = parent.rank() == 2 ? grid_of({{4, false}}) : grid_of({{2}, {2}});
        const auto i = static_cast<std::size_t>(parent.rank());
        outcomes[i] = create_cart(parent, grid, next_context).error();
        DLRT_DEMAND(last_error_text() == std::string("rank 2 asks for another grid than rank 0"));
    });
    for (const Status& outcome : outcomes) CHECK(outcome.code == Errc::mismatch);
}

TEST_CASE("neighbours: counts that differ along an edge are a mismatch", "[collective]") {
    std::array<Status, 2> outcomes{};
    CollectiveRanks ranks(2);
    ranks.run([&](Communicator& parent) {
        const bool is_sender = parent.rank() == 0;
        const Ranks other = {1 - parent.rank()}, nobody;
        const OwnEdges edges{is_sender ? nobody : other, is_sender ? other : nobody};
        const auto made = create_graph(parent, edges, next_context);
        DLRT_DEMAND(made.has_value());
        const Side input{{1, 2, 3}, Numbers(is_sender ? 1 : 0, 3)};
        Side output{{0, 0, 0}, Numbers(is_sender ? 0 : 1, 2)};
        const auto collective = coll::Collective::neighbor_alltoall;
        outcomes[static_cast<std::size_t>(parent.rank())] = exchange(
            **made, collective, input, output, Form::blocking
        );
    });
    CHECK(outcomes[0].ok());
    CHECK(outcomes[1].code == Errc::mismatch);
}

}  // namespace dlrt
