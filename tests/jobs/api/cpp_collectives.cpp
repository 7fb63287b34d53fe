// SPDX-License-Identifier: Apache-2.0
/// The collectives of dlrt.hpp in their forms, blocks of different lengths, and groups of calls;
/// np >= 2.
#include "tests/jobs/api/cpp_job.hpp"

namespace {

using namespace cpp_job;

void barriers(const dlrt::Communicator& comm) {
    comm.barrier();
    comm.ibarrier().wait();
    dlrt::Request request = comm.barrier_init();
    request.start();
    request.wait();
}

void reductions(const dlrt::Communicator& comm) {
    const std::int64_t rank = comm.rank(), size = comm.size();
    const std::size_t blocks = static_cast<std::size_t>(size);
    const Values mine(3, rank);
    Values out(3), one(1);
    const auto sum_of = [](std::int64_t ranks) { return ranks * (ranks - 1) / 2; };
    const auto sum = dlrt::Op::sum;
    expect_same(
        {[&] { comm.allreduce(mine, out, sum); }, [&] { return comm.iallreduce(mine, out, sum); },
         [&] { return comm.allreduce_init(mine, out, sum); }},
        out, Values(3, sum_of(size)), "allreduce"
    );
    expect_same(
        {[&] { comm.scan(mine, out, sum); }, [&] { return comm.iscan(mine, out, sum); },
         [&] { return comm.scan_init(mine, out, sum); }},
        out, Values(3, sum_of(rank + 1)), "scan"
    );
    expect_same(
        {[&] { comm.exscan(mine, out, sum); }, [&] { return comm.iexscan(mine, out, sum); },
         [&] { return comm.exscan_init(mine, out, sum); }},
        out, Values(3, rank == 0 ? -1 : sum_of(rank)), "exscan"
    );
    const int last = comm.size() - 1;
    expect_same(
        {[&] { comm.reduce(mine, out, sum, last); },
         [&] { return comm.ireduce(mine, out, sum, last); },
         [&] { return comm.reduce_init(mine, out, sum, last); }},
        out, Values(3, comm.rank() == last ? sum_of(size) : -1), "reduce"
    );
    const Values all = run_from(rank, size);
    expect_same(
        {[&] { comm.reduce_scatter(all, one, sum); },
         [&] { return comm.ireduce_scatter(all, one, sum); },
         [&] { return comm.reduce_scatter_init(all, one, sum); }},
        one, Values(1, sum_of(size) + size * rank), "reduce_scatter"
    );
    // Rank i gets i elements.
    Counts counts(blocks);
    std::iota(counts.begin(), counts.end(), 0);
    const Values staircase(static_cast<std::size_t>(sum_of(size)), 2);
    Values step(static_cast<std::size_t>(rank));
    expect_same(
        {[&] { comm.reduce_scatterv(staircase, step, counts, sum); },
         [&] { return comm.ireduce_scatterv(staircase, step, counts, sum); },
         [&] { return comm.reduce_scatterv_init(staircase, step, counts, sum); }},
        step, Values(static_cast<std::size_t>(rank), 2 * size), "reduce_scatterv"
    );
    std::int64_t value = rank;
    comm.iallreduce(value, dlrt::Op::max).wait();
    expect(value == size - 1, "iallreduce in place");
    value = 1;
    comm.scan(value, sum);
    expect(value == rank + 1, "scan in place");
}

void movements(const dlrt::Communicator& comm) {
    const std::int64_t rank = comm.rank(), size = comm.size();
    const Values mine = run_from(10 * rank, 2);
    Values two(2), all(static_cast<std::size_t>(2 * size)), gathered;
    for (std::int64_t i = 0; i < size; ++i) {
        gathered.push_back(10 * i);
        gathered.push_back(10 * i + 1);
    }
    const Values none(all.size(), -1);
    expect_same(
        {[&] { comm.allgather(mine, all); }, [&] { return comm.iallgather(mine, all); },
         [&] { return comm.allgather_init(mine, all); }},
        all, gathered, "allgather"
    );
    expect_same(
        {[&] { comm.gather(mine, all, 1); }, [&] { return comm.igather(mine, all, 1); },
         [&] { return comm.gather_init(mine, all, 1); }},
        all, rank == 1 ? gathered : none, "gather"
    );
    expect_same(
        {[&] { comm.scatter(gathered, two, 1); }, [&] { return comm.iscatter(gathered, two, 1); },
         [&] { return comm.scatter_init(gathered, two, 1); }},
        two, mine, "scatter"
    );
    // To rank j goes 100 * rank + j, twice.
    Values outgoing, incoming;
    for (std::int64_t i = 0; i < size; ++i) {
        outgoing.insert(outgoing.end(), 2, 100 * rank + i);
        incoming.insert(incoming.end(), 2, 100 * i + rank);
    }
    expect_same(
        {[&] { comm.alltoall(outgoing, all); }, [&] { return comm.ialltoall(outgoing, all); },
         [&] { return comm.alltoall_init(outgoing, all); }},
        all, incoming, "alltoall"
    );
    const auto bcast_value = [&](Values& values) {
        if (comm.rank() == 0) values = {4, 5};
    };
    bcast_value(two = {0, 0});
    comm.ibcast(two, 0).wait();
    expect(two == Values({4, 5}), "ibcast");
    dlrt::Request request = comm.bcast_init(std::span(two).first(1), 0);
    two = {rank == 0 ? 7 : 0, 0};
    request.start();
    request.wait();
    expect(two == Values({7, 0}), "bcast_init");
}

/// Rank i has i + 1 elements, and they lie in reverse order of ranks in the output.
void uneven_blocks(const dlrt::Communicator& comm) {
    const std::int64_t rank = comm.rank(), size = comm.size();
    Counts counts, displacements;
    Values reversed;
    for (std::int64_t i = 0, end = size * (size + 1) / 2; i < size; ++i) {
        counts.push_back(i + 1);
        displacements.push_back(end -= i + 1);
    }
    for (std::int64_t i = size - 1; i >= 0; --i) {
        const Values part = run_from(100 * i, i + 1);
        reversed.insert(reversed.end(), part.begin(), part.end());
    }
    const dlrt::Blocks blocks{counts, displacements};
    const Values mine = run_from(100 * rank, rank + 1);
    Values all(reversed.size()), own(mine.size());
    const Values none(all.size(), -1);
    expect_same(
        {[&] { comm.allgatherv(mine, all, blocks); },
         [&] { return comm.iallgatherv(mine, all, blocks); },
         [&] { return comm.allgatherv_init(mine, all, blocks); }},
        all, reversed, "allgatherv"
    );
    expect_same(
        {[&] { comm.gatherv(mine, all, blocks, 0); },
         [&] { return comm.igatherv(mine, all, blocks, 0); },
         [&] { return comm.gatherv_init(mine, all, blocks, 0); }},
        all, rank == 0 ? reversed : none, "gatherv"
    );
    expect_same(
        {[&] { comm.scatterv(reversed, blocks, own, 0); },
         [&] { return comm.iscatterv(reversed, blocks, own, 0); },
         [&] { return comm.scatterv_init(reversed, blocks, own, 0); }},
        own, mine, "scatterv"
    );
    // To rank j go j + 1 elements, all of value 10 * rank + j.
    Values outgoing, incoming;
    const Counts received(static_cast<std::size_t>(size), rank + 1);
    for (std::int64_t i = 0; i < size; ++i) {
        outgoing.insert(outgoing.end(), static_cast<std::size_t>(i + 1), 10 * rank + i);
        incoming.insert(incoming.end(), static_cast<std::size_t>(rank + 1), 10 * i + rank);
    }
    Values exchanged(incoming.size());
    expect_same(
        {[&] { comm.alltoallv(outgoing, {counts}, exchanged, {received}); },
         [&] { return comm.ialltoallv(outgoing, {counts}, exchanged, {received}); },
         [&] { return comm.alltoallv_init(outgoing, {counts}, exchanged, {received}); }},
        exchanged, incoming, "alltoallv"
    );
    const Counts ones(static_cast<std::size_t>(size), 1);
    Counts places(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < places.size(); ++i) {
        places[i] = static_cast<std::int64_t>(i * sizeof(std::int64_t));
    }
    const std::vector<dlrt_type> types(static_cast<std::size_t>(size), DLRT_INT64);
    const dlrt::TypedBlocks each{ones, places, types};
    const Values to_all = run_from(10 * rank, size);
    Values from_all(to_all.size()), expected;
    for (std::int64_t i = 0; i < size; ++i) expected.push_back(10 * i + rank);
    expect_same(
        {[&] { comm.alltoallw(to_all.data(), each, from_all.data(), each); },
         [&] { return comm.ialltoallw(to_all.data(), each, from_all.data(), each); },
         [&] { return comm.alltoallw_init(to_all.data(), each, from_all.data(), each); }},
        from_all, expected, "alltoallw"
    );
}

void groups_of_calls(const dlrt::Communicator& comm) {
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    const dlrt::Communicator other = comm.duplicate();
    const bool is_even = comm.rank() % 2 == 0;
    std::vector<double> outgoing(200'000, comm.rank()), incoming(outgoing.size());
    std::int64_t first_sum = 1, second_sum = 2;
    dlrt::CallGroup group;
    comm.send(outgoing, {.to = next});
    (is_even ? comm : other).allreduce(is_even ? first_sum : second_sum, dlrt::Op::sum);
    (is_even ? other : comm).allreduce(is_even ? second_sum : first_sum, dlrt::Op::sum);
    expect(comm.recv(incoming, {.from = previous}).size_bytes() == 0, "an empty status");
    expect_throw<std::logic_error>(
        [&] { static_cast<void>(comm.sum(1)); }, "a value within a group"
    );
    group.end();
    expect(incoming.back() == previous, "a message of a group");
    expect(first_sum == comm.size() && second_sum == 2 * comm.size(), "sums of a group");
    {
        const dlrt::CallGroup scoped;
        comm.send(outgoing, {.to = next});
        comm.recv(std::span(incoming).first(1), {.from = previous});
    }
    expect(comm.sum(1) == comm.size(), "outside again");
}

void errors(const dlrt::Communicator& comm) {
    Values two(2), three(3);
    std::vector<int> others(2);
    const Counts short_list(static_cast<std::size_t>(comm.size() - 1), 1);
    const Counts far(static_cast<std::size_t>(comm.size()), 4);
    using Wrong = std::invalid_argument;
    expect_throw<Wrong>([&] { comm.allreduce(two, three, dlrt::Op::sum); }, "lengths");
    expect_throw<Wrong>([&] { comm.allreduce(two, others, dlrt::Op::sum); }, "types");
    expect_throw<Wrong>([&] { comm.allgatherv(two, three, {short_list}); }, "too few counts");
    expect_throw<Wrong>([&] { comm.allgatherv(two, three, {far}); }, "blocks beyond the buffer");
    expect_throw<dlrt::Error>([&] { comm.ibcast(two, -1).wait(); }, "a wrong root");
}

}  // namespace

int main() {
    const dlrt::Session session;
    barriers(session.world);
    reductions(session.world);
    movements(session.world);
    uneven_blocks(session.world);
    groups_of_calls(session.world);
    errors(session.world);
}
