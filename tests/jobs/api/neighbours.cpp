// SPDX-License-Identifier: Apache-2.0
/// Graphs and grids, and exchanges between neighbours, for any number of ranks.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <string>

using namespace job;

namespace {

using Numbers = std::vector<std::int32_t>;
using Counts = std::vector<std::int64_t>;
constexpr dlrt_comm comm_world = DLRT_COMM_WORLD;

dlrt_comm make_graph(const Numbers& sources, const Numbers& targets) {
    dlrt_comm made{};
    expect_ok(dlrt_comm_create_graph(
        comm_world, static_cast<std::int32_t>(sources.size()), sources.data(),
        static_cast<std::int32_t>(targets.size()), targets.data(), &made
    ));
    return made;
}

dlrt_comm make_grid(const Numbers& sizes, const std::vector<int>& periodic) {
    dlrt_comm made{};
    expect_ok(dlrt_comm_create_cart(
        comm_world, static_cast<std::int32_t>(sizes.size()), sizes.data(), periodic.data(), &made
    ));
    return made;
}

void complete(dlrt_request& request) {
    expect_ok(dlrt_wait(&request, nullptr));
}

/// Twice to the next rank, once to itself.
void graph(const World& world) {
    const Numbers targets = {world.next, world.rank, world.next};
    const Numbers sources = {world.rank, world.previous, world.previous};
    dlrt_comm first = make_graph(sources, targets), comm{};
    expect_ok(dlrt_comm_dup(first, &comm));
    expect_ok(dlrt_comm_free(&first));
    std::int32_t in_count = 0, out_count = 0;
    expect_ok(dlrt_neighbor_count(comm, &in_count, &out_count));
    expect_equal(in_count, 3);
    expect_equal(out_count, 3);
    Numbers found_sources(4, -5), found_targets(4, -5);
    expect_ok(dlrt_neighbors(comm, 4, found_sources.data(), 2, found_targets.data()));
    expect(found_sources == Numbers({world.rank, world.previous, world.previous, -5}), "sources");
    expect(found_targets == Numbers({world.next, world.rank, -5, -5}), "the first targets");

    const std::int32_t from = world.previous * 10, own = world.rank * 10;
    const Numbers input = {own + 1, own + 2, own + 3};
    // Alone, all three edges lead to oneself and are paired in their order.
    const Numbers right = world.size == 1 ? Numbers{1, 2, 3} : Numbers{own + 2, from + 1, from + 3};
    Numbers output(3);
    expect_ok(dlrt_neighbor_alltoall(input.data(), output.data(), 1, DLRT_INT32, comm));
    expect(output == right, "alltoall");
    dlrt_request request{};
    output.assign(3, 0);
    expect_ok(dlrt_ineighbor_alltoall(input.data(), output.data(), 1, DLRT_INT32, comm, &request));
    complete(request);
    expect(output == right, "ialltoall");
    expect_ok(dlrt_neighbor_allgather(input.data(), 1, DLRT_INT32, output.data(), comm));
    expect(output == Numbers({own + 1, from + 1, from + 1}), "allgather");
    expect_ok(dlrt_comm_free(&comm));
}

/// Blocks of different sizes and places; the persistent forms, three rounds each.
void lists(const World& world) {
    dlrt_comm comm = make_graph({world.previous, world.next}, {world.next, world.previous});
    // Of rank r: r % 3 numbers to the next, 2 to the previous one.
    const Counts send_counts = {world.rank % 3, 2}, send_places = {1, 4};
    const Counts recv_counts = {world.previous % 3, 2}, recv_places = {3, 0};
    Numbers input(6), output(6);
    dlrt_request request{};
    expect_ok(dlrt_neighbor_alltoallv_init(
        input.data(), send_counts.data(), send_places.data(), output.data(), recv_counts.data(),
        recv_places.data(), DLRT_INT32, comm, &request
    ));
    for (std::int32_t round = 0; round < 3; ++round) {
        for (std::int32_t i = 0; i < 6; ++i) {
            input[static_cast<std::size_t>(i)] = round * 1000 + world.rank * 10 + i;
        }
        output.assign(6, -1);
        expect_ok(dlrt_start(request));
        expect_ok(dlrt_wait(&request, nullptr));
        Numbers right(6, -1);
        for (std::int32_t i = 0; i < world.previous % 3; ++i) {
            right[static_cast<std::size_t>(3 + i)] = round * 1000 + world.previous * 10 + 1 + i;
        }
        for (std::int32_t i = 0; i < 2; ++i) {
            right[static_cast<std::size_t>(i)] = round * 1000 + world.next * 10 + 4 + i;
        }
        expect(output == right, "persistent alltoallv");
    }
    expect_ok(dlrt_request_free(&request));

    // Each says its number as often as its rank is.
    const Numbers own(static_cast<std::size_t>(world.rank), world.rank);
    const Counts counts = {world.previous, world.next};
    Numbers gathered(static_cast<std::size_t>(world.previous + world.next), -1);
    Numbers right(static_cast<std::size_t>(world.previous), world.previous);
    right.insert(right.end(), static_cast<std::size_t>(world.next), world.next);
    expect_ok(dlrt_neighbor_allgatherv(
        own.data(), world.rank, DLRT_INT32, gathered.data(), counts.data(), nullptr, comm
    ));
    expect(gathered == right, "allgatherv");
    expect_ok(dlrt_comm_free(&comm));
}

/// A number to the right, a column of a matrix to the left.
void types(const World& world) {
    dlrt_comm comm = make_grid({world.size}, {1});
    std::array<double, 9> matrix{};
    for (std::size_t i = 0; i < 9; ++i) matrix[i] = world.rank * 100 + static_cast<double>(i);
    const std::array<double, 9> before = matrix;
    dlrt_type column{};
    expect_ok(dlrt_type_vector(3, 1, 3, DLRT_DOUBLE, &column));
    struct {
        double from_below = -1;
        std::array<double, 3> from_above = {-1, -1, -1};
    } output;
    const std::array<std::int64_t, 2> ones = {1, 1}, send_places = {8, 32}, recv_places = {0, 8};
    const std::array<std::int64_t, 2> recv_counts = {1, 3};
    const std::array<dlrt_type, 2> send_types = {column, DLRT_DOUBLE};
    const std::array<dlrt_type, 2> recv_types = {DLRT_DOUBLE, DLRT_DOUBLE};
    expect_ok(dlrt_neighbor_alltoallw(
        matrix.data(), ones.data(), send_places.data(), send_types.data(), &output,
        recv_counts.data(), recv_places.data(), recv_types.data(), comm
    ));
    // The second column of the one above, the middle of the one below.
    expect(output.from_below == world.previous * 100 + 4, "from the negative neighbour");
    for (std::size_t i = 0; i < 3; ++i) {
        const double right = world.next * 100 + 1 + 3 * static_cast<double>(i);
        expect(output.from_above[i] == right, "from the positive neighbour");
    }
    expect(matrix == before, "the input stays");
    expect_ok(dlrt_type_free(&column));
    expect_ok(dlrt_comm_free(&comm));
}

/// Two rows, closed along the second dimension only; one rank is left out where their number is
/// odd.
void grid(const World& world) {
    const std::int32_t columns = world.size / 2;
    if (columns == 0) return;
    dlrt_comm comm = make_grid({2, columns}, {0, 1});
    expect_equal(comm.index == 0, world.rank >= 2 * columns);
    if (comm.index == 0) return;
    std::array<std::int32_t, 2> where{};
    expect_ok(dlrt_cart_coordinates(comm, world.rank, where.data()));
    expect_equal(where[0], world.rank / columns);
    expect_equal(where[1], world.rank % columns);
    std::int32_t rank = 0, source = 0, target = 0;
    expect_ok(dlrt_cart_rank(comm, std::array{1, columns}.data(), &rank));
    expect_equal(rank, columns);
    expect_ok(dlrt_cart_rank(comm, std::array{2, 0}.data(), &rank));
    expect_equal(rank, std::int32_t{DLRT_PROC_NULL});
    expect_ok(dlrt_cart_shift(comm, 0, 1, &source, &target));
    expect_equal(source, where[0] == 0 ? DLRT_PROC_NULL : world.rank - columns);
    expect_equal(target, where[0] == 1 ? DLRT_PROC_NULL : world.rank + columns);
    expect_ok(dlrt_cart_shift(comm, 1, -1, &source, &target));
    expect_equal(source, where[0] * columns + (where[1] + 1) % columns);
    expect_equal(target, where[0] * columns + (where[1] + columns - 1) % columns);

    // A neighbour is a rank to send to like others, also where there is none.
    std::int32_t got = -9;
    expect_ok(dlrt_cart_shift(comm, 0, 1, &source, &target));
    expect_ok(dlrt_sendrecv(
        &world.rank, 1, DLRT_INT32, target, 0, &got, 1, DLRT_INT32, source, 0, comm, nullptr
    ));
    expect_equal(got, where[0] == 0 ? -9 : source);

    Numbers output(4, -9);
    expect_ok(dlrt_neighbor_allgather(&world.rank, 1, DLRT_INT32, output.data(), comm));
    Numbers right(4), nobody(4);
    expect_ok(dlrt_neighbors(comm, 4, right.data(), 4, nobody.data()));
    for (std::int32_t& number : right) {
        if (number == DLRT_PROC_NULL) number = -9;
    }
    expect(output == right, "allgather on a grid");
    expect_ok(dlrt_comm_free(&comm));
}

void left_out(const World& world) {
    dlrt_comm comm = make_grid({1}, {1});
    expect_equal(comm.index == 0, world.rank != 0);
    if (comm.index == 0) return;
    Numbers input = {1, 2}, output(2);
    expect_ok(dlrt_neighbor_alltoall(input.data(), output.data(), 1, DLRT_INT32, comm));
    expect(output == Numbers({2, 1}), "the negative message comes from the positive neighbour");
    expect_ok(dlrt_comm_free(&comm));
}

/// Two exchanges and a message as one operation, and lists that are gone when it runs.
void group_of_calls(const World& world) {
    dlrt_comm comm = make_graph({world.previous}, {world.next});
    const std::int32_t mine = world.rank * 10;
    std::int32_t gathered = -1, traded = -1, sent = -1;
    expect_ok(dlrt_group_start());
    expect_ok(dlrt_neighbor_allgather(&mine, 1, DLRT_INT32, &gathered, comm));
    {
        const Counts one = {1};
        expect_ok(dlrt_neighbor_alltoallv(
            &mine, one.data(), nullptr, &traded, one.data(), nullptr, DLRT_INT32, comm
        ));
    }
    expect_ok(dlrt_recv(&sent, 1, DLRT_INT32, world.previous, 4, comm, nullptr));
    expect_ok(dlrt_send(&mine, 1, DLRT_INT32, world.next, 4, comm));
    expect_ok(dlrt_group_end());
    for (const std::int32_t got : {gathered, traded, sent}) expect_equal(got, world.previous * 10);
    expect_ok(dlrt_comm_free(&comm));
}

/// Rank 0 sends more than the next one asks for: both wait for each other's blocks, and all hear of
/// it.
void unequal(const World& world) {
    dlrt_comm comm = make_graph({world.next, world.previous}, {world.previous, world.next});
    const Counts sent = {2, world.rank == 0 ? 3 : 2}, wanted = {2, 2};
    const Numbers input(5, world.rank);
    Numbers output(4);
    dlrt_err outcome = dlrt_neighbor_alltoallv(
        input.data(), sent.data(), nullptr, output.data(), wanted.data(), nullptr, DLRT_INT32, comm
    );
    // Who is far away has noticed nothing, until it needs the others.
    if (outcome == DLRT_OK) outcome = dlrt_barrier(comm);
    expect_error(outcome, DLRT_ERR_MISMATCH);
    expect_ok(dlrt_comm_free(&comm));
}

void one_sided(const World& world) {
    if (world.size == 1) return;
    dlrt_comm comm{};
    const Numbers targets(world.rank == 0 ? 2 : 0, 1), sources(world.rank == 1 ? 1 : 0, 0);
    expect_error(
        dlrt_comm_create_graph(
            comm_world, static_cast<std::int32_t>(sources.size()), sources.data(),
            static_cast<std::int32_t>(targets.size()), targets.data(), &comm
        ),
        DLRT_ERR_MISMATCH
    );
    expect(
        std::string(dlrt_last_error()) ==
            "dlrt_comm_create_graph: rank 0 names rank 1 2 times among its targets, but rank 1 "
            "names rank 0 1 times among its sources",
        "names both ranks"
    );
    expect(comm.index == 0, "no communicator after an error");
}

}  // namespace

int main() {
    const World world;
    for (auto* const part :
         {graph, lists, types, grid, left_out, group_of_calls, unequal, one_sided})
        part(world);
    return 0;
}
