// SPDX-License-Identifier: Apache-2.0
/// Graphs, grids and exchanges between neighbours in the forms of dlrt.hpp; np >= 2.
#include "tests/jobs/api/cpp_job.hpp"

namespace {

using namespace cpp_job;

using Ranks = std::vector<std::int32_t>;

/// Each rank sends to the next one twice, and to itself.
void graph(const dlrt::Communicator& world) {
    const std::int32_t rank = world.rank(), size = world.size();
    const std::int32_t next = (rank + 1) % size, previous = (rank + size - 1) % size;
    const Ranks sources{previous, rank, previous}, targets{next, next, rank};
    const dlrt::Communicator comm = world.create_graph(sources, targets);
    expect(comm.neighbors().sources == sources, "sources");
    expect(comm.neighbors().targets == targets, "targets");

    const Values mine = run_from(10 * rank, 2);
    Values six(6);
    const auto expected = [&](std::int64_t first) {
        const std::int64_t from = 10 * previous, own = 10 * rank;
        return Values{from, from + 1, own, own + 1, from + first, from + first + 1};
    };
    expect_same(
        {[&] { comm.neighbor_allgather(mine, six); },
         [&] { return comm.ineighbor_allgather(mine, six); },
         [&] { return comm.neighbor_allgather_init(mine, six); }},
        six, expected(0), "neighbor_allgather"
    );
    const Counts twos{2, 2, 2}, backwards{4, 2, 0};
    Values reversed = expected(0);
    std::rotate(reversed.begin(), reversed.begin() + 4, reversed.end());
    std::rotate(reversed.begin() + 2, reversed.begin() + 4, reversed.end());
    const dlrt::Blocks blocks{twos, backwards};
    expect_same(
        {[&] { comm.neighbor_allgatherv(mine, six, blocks); },
         [&] { return comm.ineighbor_allgatherv(mine, six, blocks); },
         [&] { return comm.neighbor_allgatherv_init(mine, six, blocks); }},
        six, reversed, "neighbor_allgatherv"
    );
    // 10 * rank + 0, 1 and 2, 3 to the next, 4, 5 to itself.
    const Values all = run_from(10 * rank, 6);
    Values traded = expected(2);
    traded[2] += 4;
    traded[3] += 4;
    expect_same(
        {[&] { comm.neighbor_alltoall(all, six); },
         [&] { return comm.ineighbor_alltoall(all, six); },
         [&] { return comm.neighbor_alltoall_init(all, six); }},
        six, traded, "neighbor_alltoall"
    );
}

/// Of the grid's one dimension one element goes up, and none down.
void lists(const dlrt::Communicator& world) {
    const std::int64_t rank = world.rank(), size = world.size();
    const auto made = world.create_cart({{world.size(), true}});
    const dlrt::Communicator& comm = *made;
    const Counts up{0, 1}, from_below{1, 0};
    const Values mine{rank};
    Values one(1);
    const Values right{(rank + size - 1) % size};
    expect_same(
        {[&] { comm.neighbor_alltoallv(mine, {up}, one, {from_below}); },
         [&] { return comm.ineighbor_alltoallv(mine, {up}, one, {from_below}); },
         [&] { return comm.neighbor_alltoallv_init(mine, {up}, one, {from_below}); }},
        one, right, "neighbor_alltoallv"
    );
    const Counts nowhere{0, 0};
    const std::array types{DLRT_INT64, DLRT_INT64};
    const dlrt::TypedBlocks sent{up, nowhere, types}, received{from_below, nowhere, types};
    expect_same(
        {[&] { comm.neighbor_alltoallw(mine.data(), sent, one.data(), received); },
         [&] { return comm.ineighbor_alltoallw(mine.data(), sent, one.data(), received); },
         [&] { return comm.neighbor_alltoallw_init(mine.data(), sent, one.data(), received); }},
        one, right, "neighbor_alltoallw"
    );
}

/// One row of as many as there are, less one.
void grid(const dlrt::Communicator& world) {
    const std::int32_t columns = world.size() - 1;
    const auto made = world.create_cart({{1, true}, {columns}});
    expect(made.has_value() == (world.rank() < columns), "who is in the grid");
    if (!made) return;
    const std::int32_t rank = made->rank();
    expect(made->cart_coordinates(rank) == Ranks{0, rank}, "coordinates");
    expect(made->cart_rank(Ranks{5, rank}) == rank, "a periodic coordinate");
    expect(made->cart_rank(Ranks{0, columns}) == dlrt::no_process, "beyond the border");
    const dlrt::GridShift shift = made->cart_shift(1, 1);
    expect(shift.source == (rank == 0 ? dlrt::no_process : rank - 1), "the source of a shift");
    expect(shift.target == (rank == columns - 1 ? dlrt::no_process : rank + 1), "its target");
    expect(made->neighbors().sources == Ranks{rank, rank, shift.source, shift.target}, "of a grid");
}

void point(const dlrt::Communicator& world) {
    const auto made = world.create_cart({});
    expect(made.has_value() == (world.rank() == 0), "a grid of no dimensions is one rank");
    if (!made) return;
    expect(made->cart_coordinates(0).empty(), "no coordinates");
    expect(made->cart_rank({}) == 0, "the only rank");
    expect(made->neighbors().sources.empty(), "no neighbours");
}

void errors(const dlrt::Communicator& world) {
    const Ranks self{world.rank()};
    const dlrt::Communicator comm = world.create_graph(self, self);
    Values two(2), three(3);
    const Counts short_list, far{4};
    using Wrong = std::invalid_argument;
    expect_throw<Wrong>([&] { comm.neighbor_allgather(two, three); }, "lengths");
    expect_throw<Wrong>([&] { comm.neighbor_alltoall(two, three); }, "lengths of blocks");
    expect_throw<Wrong>([&] { comm.neighbor_allgatherv(two, three, {short_list}); }, "no counts");
    expect_throw<Wrong>([&] { comm.neighbor_allgatherv(two, three, {far}); }, "too many");
    expect_throw<dlrt::Error>([&] { world.neighbor_alltoall(two, two); }, "no neighbours");
    expect_throw<dlrt::Error>([&] { static_cast<void>(comm.cart_shift(0, 1)); }, "no grid");
}

}  // namespace

int main() {
    const dlrt::Session session;
    graph(session.world);
    lists(session.world);
    grid(session.world);
    point(session.world);
    errors(session.world);
}
