// SPDX-License-Identifier: Apache-2.0
/// Communicators between two groups in the forms of dlrt.hpp: the first rank and the others; np 2
/// and 5.
#include "tests/jobs/api/cpp_job.hpp"

namespace {

using namespace cpp_job;

/// A rank's view: the first rank is alone in its group.
struct Sides {
    explicit Sides(const dlrt::Communicator& world)
        : is_alone(world.rank() == 0),
          own(world.rank()),
          others(is_alone ? run_from(1, world.size() - 1) : Values{0}),
          local(*world.split(is_alone ? 0 : 1)),
          inter(local.connect(0, world, is_alone ? 1 : 0, 5)) {}
    bool is_alone;
    std::int64_t own;
    Values others;  ///< World ranks.
    dlrt::Communicator local, inter;
};

void all_to_all(const Sides& sides) {
    const dlrt::Communicator& inter = sides.inter;
    expect(inter.is_between_groups() && !sides.local.is_between_groups(), "what it is");
    expect(inter.remote_size() == static_cast<int>(sides.others.size()), "the remote size");
    expect(inter.remote_group().size() == inter.remote_size(), "the remote group");
    Values all(sides.others.size());
    expect_same(
        {[&] { inter.allgather(sides.own, all); }, [&] { return inter.iallgather(sides.own, all); },
         [&] { return inter.allgather_init(sides.own, all); }},
        all, sides.others, "allgather"
    );
    expect(inter.allgather(sides.own) == sides.others, "allgather of a value");
    const std::int64_t sum = std::accumulate(
        sides.others.begin(), sides.others.end(), std::int64_t{0}
    );
    Values one(1);
    expect_same(
        {[&] { inter.allreduce(sides.own, one, dlrt::Op::sum); },
         [&] { return inter.iallreduce(sides.own, one, dlrt::Op::sum); },
         [&] { return inter.allreduce_init(sides.own, one, dlrt::Op::sum); }},
        one, {sum}, "allreduce"
    );
    const Values mine(sides.others.size(), sides.own);
    expect_same(
        {[&] { inter.alltoall(mine, all); }, [&] { return inter.ialltoall(mine, all); },
         [&] { return inter.alltoall_init(mine, all); }},
        all, sides.others, "alltoall"
    );
    const Counts ones(sides.others.size(), 1);
    inter.allgatherv(sides.own, all, {ones});
    expect(all == sides.others, "allgatherv");
    inter.alltoallv(mine, {ones}, all, {ones});
    expect(all == sides.others, "alltoallv");
    inter.barrier();
    if (sides.local.rank() != 0) return;
    std::int64_t got = -1;
    inter.exchange(sides.own, {.to = 0}, got, {.from = 0});
    expect(got == sides.others[0], "an exchange of the lowest ranks");
}

/// The root is the rank that is alone.
void rooted(const Sides& sides) {
    const dlrt::Communicator& inter = sides.inter;
    const int root = sides.is_alone ? dlrt::root_here : 0;
    std::int64_t value = sides.is_alone ? 77 : 0;
    inter.bcast(value, root);
    expect(value == 77, "bcast");
    const Values none;
    Values empty, all(sides.is_alone ? sides.others.size() : 0, -1);
    const Counts ones(all.size(), 1);
    Values one(sides.is_alone ? 1 : 0, -1);
    const Values mine(sides.is_alone ? 0 : 1, sides.own);
    inter.gather(mine, all, root);
    expect(!sides.is_alone || all == sides.others, "gather");
    all.assign(all.size(), -1);
    inter.igatherv(mine, all, {ones}, root).wait();
    expect(!sides.is_alone || all == sides.others, "gatherv");
    inter.reduce(mine, one, dlrt::Op::max, root);
    expect(!sides.is_alone || one[0] == sides.others.back(), "reduce");
    Values share(sides.is_alone ? 0 : 1, -1);
    inter.scatter(sides.is_alone ? sides.others : none, share, root);
    expect(share == mine, "scatter");
    share.assign(share.size(), -1);
    inter.iscatterv(sides.is_alone ? sides.others : empty, {ones}, share, root).wait();
    expect(share == mine, "scatterv");
}

void merge(const dlrt::Communicator& world, const Sides& sides) {
    using Order = dlrt::Communicator::MergeOrder;
    const dlrt::Communicator merged = sides.inter.merge(sides.is_alone ? Order::high : Order::low);
    Values order = run_from(1, world.size() - 1);
    order.push_back(0);
    expect(merged.allgather(sides.own) == order, "the alone one comes last");
}

void errors(const dlrt::Communicator& world, const Sides& sides) {
    using Wrong = std::invalid_argument;
    Values many(sides.others.size() + 1);
    expect_throw<Wrong>([&] { sides.inter.allgather(sides.own, many); }, "lengths");
    expect_throw<Wrong>([&] { sides.inter.allgatherv(many, many, {many}); }, "counts");
    expect_throw<dlrt::Error>([&] { static_cast<void>(world.remote_size()); }, "one group");
    expect_throw<dlrt::Error>([&] { sides.inter.allreduce(many, dlrt::Op::sum); }, "in place");
}

}  // namespace

int main() {
    const dlrt::Session session;
    const Sides sides(session.world);
    all_to_all(sides);
    rooted(sides);
    merge(session.world, sides);
    errors(session.world, sides);
}
