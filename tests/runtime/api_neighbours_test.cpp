// SPDX-License-Identifier: Apache-2.0
/// The functions of dlrt_topology.h with every argument that can be seen to be bad. A job of one
/// rank.
#include "tests/runtime/bad_arguments.hpp"

using namespace dlrt::testing;

namespace {

/// A ring of one, and a graph with one edge.
struct Made {
    Made() {
        const std::int32_t size = 1, rank = 0;
        const int periodic = 1;
        REQUIRE(dlrt_comm_create_cart(DLRT_COMM_WORLD, 1, &size, &periodic, &grid) == DLRT_OK);
        REQUIRE(dlrt_comm_create_graph(DLRT_COMM_WORLD, 1, &rank, 1, &rank, &graph) == DLRT_OK);
    }
    ~Made() {
        CHECK(dlrt_comm_free(&grid) == DLRT_OK);
        CHECK(dlrt_comm_free(&graph) == DLRT_OK);
    }
    const Joined joined;
    dlrt_comm grid{}, graph{};
};

}  // namespace

TEST_CASE("api: communicators with neighbours refuse what is bad", "[api]") {
    const Made made;
    const Comm grid{made.grid}, graph{made.graph};
    dlrt_comm result{};
    const std::int32_t zero = 0;
    std::int32_t size = 1, number = 0;
    const int periodic = 1;
    const Needed list{&zero};
    const Needed<std::int32_t> where{&number};
    DLRT_REFUSE(dlrt_comm_create_graph, world, Length{1}, list, Length{1}, list, Needed{&result});
    DLRT_REFUSE(
        dlrt_comm_create_cart, world, Free{1}, Needed<const std::int32_t>{&size}, Needed{&periodic},
        Needed{&result}
    );
    DLRT_REFUSE(dlrt_cart_coordinates, grid, Target{0}, where);
    DLRT_REFUSE(dlrt_cart_rank, grid, list, where);
    DLRT_REFUSE(dlrt_cart_shift, grid, Free{0}, Free{1}, where, where);
    DLRT_REFUSE(dlrt_neighbor_count, graph, where, where);
    DLRT_REFUSE(dlrt_neighbors, graph, Length{1}, where, Length{1}, where);

    const std::int32_t beyond = 1;
    const auto create_graph = [&](const std::int32_t* sources) {
        return dlrt_comm_create_graph(DLRT_COMM_WORLD, 1, sources, 1, &zero, &result);
    };
    CHECK(create_graph(&beyond) == DLRT_ERR_RANK);
    const std::int32_t nobody = DLRT_PROC_NULL;
    CHECK(create_graph(&nobody) == DLRT_ERR_RANK);
    const auto create_cart = [&](std::int32_t dimensions, std::array<std::int32_t, 2> sizes) {
        const std::array<int, 2> rings{};
        return dlrt_comm_create_cart(
            DLRT_COMM_WORLD, dimensions, sizes.data(), rings.data(), &result
        );
    };
    CHECK(create_cart(-1, {1, 1}) == DLRT_ERR_ARG);
    CHECK(create_cart(2, {1, 0}) == DLRT_ERR_ARG);
    CHECK(create_cart(2, {-1, -1}) == DLRT_ERR_ARG);
    CHECK(create_cart(2, {1, 2}) == DLRT_ERR_ARG);
    CHECK(create_cart(2, {INT32_MAX, INT32_MAX}) == DLRT_ERR_ARG);
    CHECK(dlrt_cart_shift(made.grid, 1, 1, &number, &number) == DLRT_ERR_ARG);
    CHECK(dlrt_cart_shift(made.grid, -1, 1, &number, &number) == DLRT_ERR_ARG);
    CHECK((result.index == 0 && result.generation == 0));
}

TEST_CASE("api: communicators without neighbours, and graphs asked for a grid", "[api]") {
    const Made made;
    std::int32_t number = 0;
    std::array<double, 2> input{}, output{};
    CHECK(dlrt_neighbor_count(DLRT_COMM_WORLD, &number, &number) == DLRT_ERR_COMM);
    CHECK(dlrt_neighbors(DLRT_COMM_WORLD, 0, nullptr, 0, nullptr) == DLRT_ERR_COMM);
    CHECK(
        dlrt_neighbor_allgather(input.data(), 1, DLRT_DOUBLE, output.data(), DLRT_COMM_WORLD) ==
        DLRT_ERR_COMM
    );
    CHECK(std::string(dlrt_last_error())
              .starts_with("dlrt_neighbor_allgather: the communicator's ranks have no neighbours"));
    CHECK(dlrt_cart_rank(made.graph, &number, &number) == DLRT_ERR_COMM);
    CHECK(dlrt_cart_coordinates(DLRT_COMM_WORLD, 0, &number) == DLRT_ERR_COMM);
    CHECK(dlrt_cart_shift(made.graph, 0, 1, &number, &number) == DLRT_ERR_COMM);
}

TEST_CASE("api: exchanges between neighbours refuse what is bad", "[api]") {
    const Made made;
    const Comm graph{made.graph};
    const Memory input{data.data()}, output{more_data.data()};
    const Count one{1};
    const std::int64_t count = 1;
    const Needed counts{&count};
    const Free<const std::int64_t*> places{nullptr};
    const dlrt_type type = DLRT_DOUBLE;
    const Needed types{&type};
    dlrt_request request{};
    const Needed result{&request};
    DLRT_REFUSE(dlrt_neighbor_allgather, input, one, real, output, graph);
    DLRT_REFUSE(dlrt_ineighbor_allgather, input, one, real, output, graph, result);
    DLRT_REFUSE(dlrt_neighbor_allgather_init, input, one, real, output, graph, result);
    DLRT_REFUSE(dlrt_neighbor_allgatherv, input, one, real, output, counts, places, graph);
    DLRT_REFUSE(dlrt_neighbor_alltoall, input, output, one, real, graph);
    DLRT_REFUSE(dlrt_ineighbor_alltoall, input, output, one, real, graph, result);
    DLRT_REFUSE(dlrt_neighbor_alltoall_init, input, output, one, real, graph, result);
    DLRT_REFUSE(
        dlrt_neighbor_alltoallv, input, counts, places, output, counts, places, real, graph
    );
    DLRT_REFUSE(
        dlrt_neighbor_alltoallw, input, counts, places, types, output, counts, places, types, graph
    );
    CHECK((request.index == 0 && request.generation == 0));
    CHECK(
        dlrt_neighbor_alltoall(data.data(), data.data(), 1, DLRT_DOUBLE, made.graph) ==
        DLRT_ERR_BUFFER
    );
    CHECK(
        std::string(dlrt_last_error()) == "dlrt_neighbor_alltoall: input and output are the same"
    );
    const std::int64_t negative = -1;
    CHECK(
        dlrt_neighbor_allgatherv(
            data.data(), 1, DLRT_DOUBLE, more_data.data(), &negative, nullptr, made.graph
        ) == DLRT_ERR_COUNT
    );
    CHECK(std::string(dlrt_last_error()).find("the block for neighbour 0") != std::string::npos);
}

TEST_CASE("api: without neighbours an exchange needs no buffers", "[api]") {
    const Joined joined;
    dlrt_comm alone{};
    REQUIRE(dlrt_comm_create_graph(DLRT_COMM_WORLD, 0, nullptr, 0, nullptr, &alone) == DLRT_OK);
    CHECK(dlrt_neighbor_alltoall(nullptr, nullptr, 5, DLRT_DOUBLE, alone) == DLRT_OK);
    CHECK(
        dlrt_neighbor_alltoallv(
            nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, DLRT_DOUBLE, alone
        ) == DLRT_OK
    );
    CHECK(dlrt_neighbor_allgather(data.data(), 1, DLRT_DOUBLE, nullptr, alone) == DLRT_OK);
    CHECK(dlrt_neighbor_alltoall(nullptr, nullptr, -5, DLRT_DOUBLE, alone) == DLRT_ERR_COUNT);
    CHECK(dlrt_comm_free(&alone) == DLRT_OK);
}
