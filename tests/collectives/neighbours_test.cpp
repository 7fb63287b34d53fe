// SPDX-License-Identifier: Apache-2.0
/// Exchanges between neighbours: random graphs and grids of all sizes are proved, some results are
/// worked out by hand, and the checker is shown wrong ones.
#include "collectives/grid.hpp"
#include "collectives/verify_neighbours.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

constexpr Collective allgather = Collective::neighbor_allgather;
constexpr Collective alltoall = Collective::neighbor_alltoall;
using Graph = std::vector<Neighbours>;
using Coordinates = std::vector<std::int32_t>;

std::vector<Schedule> schedules_of(Collective collective, const Graph& graph) {
    std::vector<Schedule> schedules;
    const auto size = static_cast<std::int32_t>(graph.size());
    for (std::int32_t rank = 0; rank < size; ++rank) {
        const Neighbours& own = graph[static_cast<std::size_t>(rank)];
        schedules.push_back(neighbour_exchange(collective, {size, rank}, own));
    }
    return schedules;
}

void check_proved(const Graph& graph) {
    for (const Collective collective : {allgather, alltoall}) {
        const auto fault = find_neighbour_fault(schedules_of(collective, graph), graph);
        INFO(name_of(collective) << ": " << (fault ? fault->text : ""));
        CHECK_FALSE(fault.has_value());
    }
}

/// Edges at random; some ranks have none, some edges are there twice or lead back to their rank.
Graph random_graph(std::int32_t size, std::mt19937& random) {
    Graph graph(static_cast<std::size_t>(size));
    std::uniform_int_distribution<std::int32_t> any_rank(0, size - 1);
    std::uniform_int_distribution<int> any_count(0, 3 * size);
    const int edge_count = any_count(random);
    for (int i = 0; i < edge_count; ++i) {
        const std::int32_t from = any_rank(random);
        const std::int32_t to = i % 5 == 0 ? from : any_rank(random);
        for (int copies = i % 3 == 0 ? 3 : 1; copies > 0; --copies) {
            graph[static_cast<std::size_t>(from)].targets.push_back({to, 0});
            graph[static_cast<std::size_t>(to)].sources.push_back({from, 0});
        }
    }
    // The sides need not list their edges in the same order.
    for (Neighbours& own : graph) std::ranges::shuffle(own.sources, random);
    return graph;
}

Graph graph_of(const Grid& grid) {
    Graph graph;
    for (std::int32_t rank = 0; rank < grid.rank_count(); ++rank)
        graph.push_back(grid.neighbours_of(rank));
    return graph;
}

std::vector<std::int32_t> ranks_of(const std::vector<Link>& links) {
    std::vector<std::int32_t> ranks;
    for (const Link& link : links) ranks.push_back(link.rank);
    return ranks;
}

/// All ways to write a number as a product of so many sizes.
void factor(std::int32_t product, int count, Coordinates& sizes, std::vector<Coordinates>& found) {
    if (count == 1) {
        sizes.push_back(product);
        found.push_back(sizes);
        sizes.pop_back();
        return;
    }
    for (std::int32_t size = 1; size <= product; ++size) {
        if (product % size != 0) continue;
        sizes.push_back(size);
        factor(product / size, count - 1, sizes, found);
        sizes.pop_back();
    }
}

Grid grid_of(const Coordinates& sizes, unsigned periodic_bits) {
    std::vector<Grid::Dimension> dimensions;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        dimensions.push_back({sizes[i], (periodic_bits >> i & 1) != 0});
    return Grid(dimensions);
}

/// All grids of so many ranks, with each choice of periodic dimensions.
void check_grids(std::int32_t size, int dimensions_max) {
    std::vector<Coordinates> found;
    Coordinates sizes;
    for (int dimensions = 1; dimensions <= dimensions_max; ++dimensions)
        factor(size, dimensions, sizes, found);
    for (const Coordinates& one : found) {
        INFO(size << " ranks, " << one.size() << " dimensions, first of size " << one[0]);
        for (unsigned bits = 0; bits < 1u << one.size(); ++bits)
            check_proved(graph_of(grid_of(one, bits)));
    }
}

}  // namespace

TEST_CASE("neighbours: random graphs are proved", "[collectives]") {
    std::mt19937 random(20261130);
    for (const std::int32_t size : {1, 2, 3, 5, 8, 13, 16, 33, 128}) {
        INFO(size << " ranks");
        check_proved(random_graph(size, random));
    }
}

TEST_CASE("neighbours: random graphs are proved, 1 to 128 ranks", "[collectives][full]") {
    std::mt19937 random(1);
    for (std::int32_t size = 1; size <= 128; ++size) {
        INFO(size << " ranks");
        for (int round = 0; round < 3; ++round) check_proved(random_graph(size, random));
    }
}

TEST_CASE("neighbours: grids are proved", "[collectives]") {
    for (const std::int32_t size : {1, 2, 3, 4, 7, 8, 12, 24}) check_grids(size, 3);
}

TEST_CASE("neighbours: grids are proved, 1 to 128 ranks", "[collectives][full]") {
    // Of three dimensions only where there are few ranks: they are many ways.
    for (std::int32_t size = 1; size <= 128; ++size) check_grids(size, size <= 32 ? 3 : 2);
}

TEST_CASE("neighbours: the k-th edge of one side is the k-th of the other", "[collectives]") {
    // 0 has three edges to 1 and one to itself in between; 1 lists two of them before one from 2.
    const Graph graph = {
        {{{0, 0}}, {{1, 0}, {0, 0}, {1, 0}, {1, 0}}},
        {{{0, 0}, {0, 0}, {2, 0}, {0, 0}}, {}},
        {{}, {{1, 0}}},
        {{}, {}},
    };
    check_proved(graph);
    const auto schedules = schedules_of(alltoall, graph);
    std::vector<std::uint32_t> sent;
    for (const Step& step : schedules[0].steps) {
        if (step.kind == StepKind::send) sent.push_back(step.source.chunk);
        if (step.kind == StepKind::copy) CHECK(step.source.chunk == 1);
    }
    CHECK(sent == std::vector<std::uint32_t>{0, 2, 3});
    std::vector<std::uint32_t> received;
    for (const Step& step : schedules[1].steps) {
        CHECK(step.kind == StepKind::recv);
        if (step.peer == 0) received.push_back(step.target.chunk);
    }
    CHECK(received == std::vector<std::uint32_t>{0, 1, 3});
    CHECK(schedules[3].steps.empty());
}

TEST_CASE("neighbours: the checker tells what is wrong", "[collectives]") {
    // A ring of three: from the left, to the right.
    const Graph ring = {
        {{{2, 0}}, {{1, 0}}},
        {{{0, 0}}, {{2, 0}}},
        {{{1, 0}}, {{0, 0}}},
    };
    auto schedules = schedules_of(alltoall, ring);
    const auto kind = [&](const Graph& graph) {
        const auto fault = find_neighbour_fault(schedules, graph);
        return fault ? std::optional(fault->kind) : std::nullopt;
    };
    CHECK(kind(ring) == std::nullopt);
    SECTION("a message for another rank") {
        Graph other = ring;
        other[0] = {{{1, 0}}, {{2, 0}}};
        other[1] = {{{2, 0}}, {{0, 0}}};
        other[2] = {{{0, 0}}, {{1, 0}}};
        CHECK(kind(other) == FaultKind::result);
    }
    SECTION("a message is missing") {
        Graph other = ring;
        other[0].targets.push_back({1, 0});
        other[1].sources.push_back({0, 0});
        CHECK(kind(other) == FaultKind::result);
    }
    SECTION("only one side knows an edge") {
        Graph other = ring;
        other[0].targets.push_back({2, 0});
        CHECK(kind(other) == FaultKind::pairing);
    }
    SECTION("a send without its receive") {
        set_edges(schedules[1], {});
        schedules[1].steps.erase(schedules[1].steps.begin());
        set_edges(schedules[1], {});
        CHECK(kind(ring) == FaultKind::pairing);
    }
    SECTION("a block that isn't there") {
        schedules[2].steps[0].target.chunk = 1;
        CHECK(kind(ring) == FaultKind::bounds);
    }
    SECTION("two messages into one block") {
        const Graph pair = {{{{1, 0}, {1, 0}}, {}}, {{}, {{0, 0}, {0, 0}}}};
        schedules = schedules_of(alltoall, pair);
        CHECK(kind(pair) == std::nullopt);
        schedules[0].steps[1].target.chunk = 0;
        CHECK(kind(pair) == FaultKind::race);
    }
    SECTION("two blocks exchanged") {
        const Graph pair = {{{{1, 0}, {1, 0}}, {}}, {{}, {{0, 0}, {0, 0}}}};
        schedules = schedules_of(alltoall, pair);
        std::swap(schedules[0].steps[0].target, schedules[0].steps[1].target);
        CHECK(kind(pair) == FaultKind::result);
    }
}

TEST_CASE("grid: ranks in row-major order", "[collectives]") {
    const Grid grid = grid_of({2, 3, 4}, 0b100);
    CHECK(grid.rank_count() == 24);
    CHECK(grid.coordinates_of(0) == Coordinates{0, 0, 0});
    CHECK(grid.coordinates_of(5) == Coordinates{0, 1, 1});
    CHECK(grid.coordinates_of(23) == Coordinates{1, 2, 3});
    CHECK(grid.rank_at(Coordinates{1, 0, 2}) == 14);
    CHECK(grid.rank_at(Coordinates{1, 0, -1}) == 15);
    CHECK(grid.rank_at(Coordinates{1, 0, 9}) == 13);
    CHECK(grid.rank_at(Coordinates{1, 0, INT32_MIN}) == 12);
    CHECK(grid.rank_at(Coordinates{2, 0, 0}) == no_neighbour);
    CHECK(grid.rank_at(Coordinates{0, -1, 0}) == no_neighbour);
    for (std::int32_t rank = 0; rank < 24; ++rank)
        CHECK(grid.rank_at(grid.coordinates_of(rank)) == rank);
}

TEST_CASE("grid: steps along a dimension", "[collectives]") {
    const Grid grid = grid_of({3, 4}, 0b10);
    // 5 is at (1, 1).
    CHECK(grid.rank_from(5, 0, 1) == 9);
    CHECK(grid.rank_from(5, 0, -1) == 1);
    CHECK(grid.rank_from(5, 0, 2) == no_neighbour);
    CHECK(grid.rank_from(5, 0, 0) == 5);
    CHECK(grid.rank_from(5, 1, -2) == 7);
    CHECK(grid.rank_from(5, 1, 7) == 4);
    CHECK(grid.rank_from(5, 1, std::int64_t{INT32_MIN} * 4) == 5);
}

TEST_CASE("grid: neighbours by dimension, the negative one first", "[collectives]") {
    const Grid grid = grid_of({3, 4}, 0b10);
    const Neighbours corner = grid.neighbours_of(0);
    CHECK(ranks_of(corner.sources) == Coordinates{-1, 4, 3, 1});
    CHECK(ranks_of(corner.targets) == Coordinates{-1, 4, 3, 1});
    CHECK(ranks_of(grid.neighbours_of(6).sources) == Coordinates{2, 10, 5, 7});
    CHECK(grid_of({}, 0).neighbours_of(0).sources.empty());
    CHECK(grid_of({}, 0).rank_count() == 1);
}

TEST_CASE(
    "grid: what goes in the positive direction comes from the negative neighbour", "[collectives]"
) {
    SECTION("to the other of two") {
        const auto schedules = schedules_of(alltoall, graph_of(grid_of({2}, 1)));
        // The second block of 0, which goes up, meets the receive of 1 into its first one.
        std::vector<std::pair<std::uint16_t, std::uint32_t>> sent, received;
        for (const Step& step : schedules[0].steps)
            if (step.kind == StepKind::send) sent.push_back({step.lane, step.source.chunk});
        for (const Step& step : schedules[1].steps)
            if (step.kind == StepKind::recv) received.push_back({step.lane, step.target.chunk});
        CHECK(sent == decltype(sent){{0, 0}, {1, 1}});
        CHECK(received == decltype(received){{1, 0}, {0, 1}});
    }
    SECTION("to oneself") {
        const auto schedules = schedules_of(alltoall, graph_of(grid_of({1}, 1)));
        REQUIRE(schedules[0].steps.size() == 2);
        CHECK(schedules[0].steps[0].source.chunk == 1);
        CHECK(schedules[0].steps[0].target.chunk == 0);
        CHECK(schedules[0].steps[1].source.chunk == 0);
        CHECK(schedules[0].steps[1].target.chunk == 1);
    }
}

}  // namespace dlrt::coll
