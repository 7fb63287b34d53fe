// SPDX-License-Identifier: Apache-2.0
/// Tests the verifier: it must see every kind of fault. That it sees the loss of any piece of a
/// right schedule is mutation_test.cpp's.
#include "collectives/verify.hpp"

#include "collectives/expressions.hpp"
#include "collectives/schedule_builder.hpp"
#include "tests/collectives/all_ranks.hpp"

#include <set>
#include <utility>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

FaultKind kind_of_fault(const std::vector<Schedule>& schedules) {
    const auto fault = find_fault(schedules);
    REQUIRE(fault.has_value());
    CHECK_FALSE(fault->text.empty());
    const auto at_random = find_fault(schedules, Proof::random);
    REQUIRE(at_random.has_value());
    CHECK(at_random->kind == fault->kind);
    return fault->kind;
}

// Two ranks that swap their chunks of an all-gather, written by hand so that single things can go
// wrong.
struct Swap {
    ScheduleBuilder::Header header{
        Collective::allgather, "swap", ChunkRule::block, 2, OperandOrder::by_rank};
    ScheduleBuilder left{header, {2, 0, 0, Placement::in_place}};
    ScheduleBuilder right{header, {2, 1, 0, Placement::in_place}};
    std::vector<Schedule> finish() { return {std::move(left).finish(), std::move(right).finish()}; }
};

}  // namespace

TEST_CASE("verify: accepts a swap written by hand", "[collectives]") {
    Swap swap;
    swap.left.send(1, output_slice(0));
    swap.left.recv(1, output_slice(1));
    swap.right.send(0, output_slice(1));
    swap.right.recv(0, output_slice(0));
    CHECK_FALSE(find_fault(swap.finish()).has_value());
}

TEST_CASE(
    "verify: two ranks that both send first and then receive deadlock under rendezvous",
    "[collectives]"
) {
    Swap swap;
    swap.left.send(1, output_slice(0));
    swap.left.recv(1, output_slice(1));
    swap.left.order(0, 1);
    swap.right.send(0, output_slice(1));
    swap.right.recv(0, output_slice(0));
    swap.right.order(0, 1);
    CHECK(kind_of_fault(swap.finish()) == FaultKind::deadlock);
}

TEST_CASE("verify: a message longer than its receive is a fault of pairing", "[collectives]") {
    Swap swap;
    swap.left.send(1, output_slice(0, 2));
    swap.right.recv(0, output_slice(0));
    CHECK(kind_of_fault(swap.finish()) == FaultKind::pairing);
}

TEST_CASE("verify: messages of different lanes do not pair", "[collectives]") {
    Swap swap;
    swap.left.send(1, output_slice(0), 1);
    swap.right.recv(0, output_slice(0), 0);
    CHECK(kind_of_fault(swap.finish()) == FaultKind::pairing);
}

TEST_CASE(
    "verify: touching chunks that do not exist, or the input, is out of bounds", "[collectives]"
) {
    Swap swap;
    swap.left.send(1, output_slice(0));
    swap.left.recv(1, output_slice(1));
    swap.right.send(0, output_slice(1));
    SECTION("beyond the end") {
        swap.right.recv(0, output_slice(2));
    }
    SECTION("a buffer without meaning") {
        swap.right.recv(0, input_slice(0));
    }
    CHECK(kind_of_fault(swap.finish()) == FaultKind::bounds);
}

TEST_CASE("verify: a rank that writes its input is out of bounds", "[collectives]") {
    ScheduleBuilder builder(
        {Collective::allgather, "bad", ChunkRule::block, 1}, {1, 0, 0, Placement::separate}
    );
    builder.copy(input_slice(0), output_slice(0));
    builder.copy(output_slice(0), input_slice(0));
    CHECK(kind_of_fault({std::move(builder).finish()}) == FaultKind::bounds);
}

TEST_CASE("verify: a contribution counted twice is a wrong result", "[collectives]") {
    const ScheduleBuilder::Header header{Collective::reduce, "twice", ChunkRule::split, 1};
    ScheduleBuilder root(header, {2, 0, 0, Placement::separate}),
        leaf(header, {2, 1, 0, Placement::separate});
    root.recv(1, scratch_slice(0));
    root.reduce(input_slice(0), scratch_slice(0), output_slice(0));
    root.reduce(output_slice(0), scratch_slice(0), output_slice(0));
    leaf.send(0, input_slice(0));
    CHECK(kind_of_fault({std::move(root).finish(), std::move(leaf).finish()}) == FaultKind::result);
}

TEST_CASE(
    "verify: operands out of the order of ranks are a fault only where order is claimed",
    "[collectives]"
) {
    auto reduce_backwards = [](OperandOrder order) {
        const ScheduleBuilder::Header header{
            Collective::reduce, "backwards", ChunkRule::split, 1, order};
        ScheduleBuilder root(header, {2, 0, 0, Placement::separate}),
            leaf(header, {2, 1, 0, Placement::separate});
        root.recv(1, scratch_slice(0));
        root.reduce(scratch_slice(0), input_slice(0), output_slice(0));
        leaf.send(0, input_slice(0));
        return std::vector{std::move(root).finish(), std::move(leaf).finish()};
    };
    CHECK(kind_of_fault(reduce_backwards(OperandOrder::by_rank)) == FaultKind::result);
    CHECK_FALSE(find_fault(reduce_backwards(OperandOrder::any)).has_value());
}

TEST_CASE(
    "verify: an all-reduce whose ranks compute different expressions is a wrong result",
    "[collectives]"
) {
    std::vector<Schedule> schedules;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        ScheduleBuilder builder(
            {Collective::allreduce, "selfish", ChunkRule::split, 1, OperandOrder::any},
            {2, rank, 0, Placement::separate}
        );
        builder.recv(1 - rank, scratch_slice(0));
        builder.send(1 - rank, input_slice(0));
        builder.reduce(input_slice(0), scratch_slice(0), output_slice(0));
        schedules.push_back(std::move(builder).finish());
    }
    CHECK(kind_of_fault(schedules) == FaultKind::result);
}

TEST_CASE("verify: using what nobody has written is a wrong result", "[collectives]") {
    Swap swap;
    swap.left.send(1, scratch_slice(0));
    swap.right.recv(0, output_slice(0));
    CHECK(kind_of_fault(swap.finish()) == FaultKind::result);
}

TEST_CASE(
    "verify: sets of contributors are given up for random values when they grow large",
    "[collectives]"
) {
    // A chunk each: 20,000 sets of 313 words are 50 MB, 30,000 of 469 are 113.
    CHECK(affordable_proof(std::vector<Schedule>(20000)) == Proof::exact);
    CHECK(affordable_proof(std::vector<Schedule>(30000)) == Proof::random);
}

TEST_CASE("verify: schedules of different operations do not make one", "[collectives]") {
    const std::vector schedules{
        bcast_binomial({2, 0, 0, Placement::separate}),
        bcast_binomial({2, 1, 1, Placement::separate})};
    CHECK(kind_of_fault(schedules) == FaultKind::bounds);
}

TEST_CASE("verify: a broadcast from another root is compared with a proven one", "[collectives]") {
    const auto from = [](std::string_view name, std::int32_t root) {
        return all_ranks(*find_algorithm(Collective::bcast, name), 7, root, Placements::none);
    };
    CHECK(is_turned(from("chain", 0), from("chain", 3)));
    CHECK(is_turned(from("circulant", 2), from("circulant", 1)));
    CHECK_FALSE(is_turned(from("binomial", 0), from("binomial", 3)));
    CHECK_FALSE(is_turned({}, {}));
    RootProver prover;
    CHECK_FALSE(prover.find_fault(from("chain", 0), Proof::exact).has_value());
    CHECK_FALSE(prover.find_fault(from("chain", 4), Proof::exact).has_value());
    std::vector<Schedule> wrong = from("chain", 4);
    for (Step& step : wrong[2].steps) step.peer = step.kind == StepKind::recv ? 0 : step.peer;
    CHECK_FALSE(is_turned(from("chain", 0), wrong));
    CHECK(prover.find_fault(wrong, Proof::exact).has_value());
    wrong = from("chain", 4);
    set_edges(wrong[2], {});
    CHECK(prover.find_fault(wrong, Proof::exact).has_value());
    // What is turned in a reduction has another order of ranks.
    const Algorithm& reduce = *find_algorithm(Collective::reduce, "chain");
    const auto reduction = all_ranks(reduce, 3, 0, Placements::none);
    CHECK_FALSE(is_turned(reduction, reduction));
    // Unless there is none to keep.
    const auto reduced_to = [](std::int32_t root) {
        return all_ranks(
            *find_algorithm(Collective::reduce, "circulant"), 6, root, Placements::none
        );
    };
    CHECK(is_turned(reduced_to(0), reduced_to(5)));
    wrong = reduced_to(5);
    for (Step& step : wrong[1].steps) {
        if (step.kind == StepKind::reduce) step.right = step.source;
    }
    CHECK_FALSE(is_turned(reduced_to(0), wrong));
}

TEST_CASE("verify: expressions known from other roots hide no fault", "[collectives]") {
    const auto reduced_to = [](std::int32_t root) {
        return all_ranks(
            *find_algorithm(Collective::reduce, "rabenseifner"), 6, root, Placements::none
        );
    };
    RootProver prover;
    for (int time = 0; time < 2; ++time) {
        for (std::int32_t root = 0; root < 6; ++root) {
            CHECK_FALSE(prover.find_fault(reduced_to(root), Proof::exact).has_value());
            std::vector<Schedule> wrong = reduced_to(root);
            for (Step& step : wrong[static_cast<std::size_t>(root)].steps) {
                if (step.kind == StepKind::reduce) std::swap(step.source, step.right);
            }
            CHECK(prover.find_fault(wrong, Proof::exact).has_value());
        }
    }
}

TEST_CASE("verify: expressions are equal when their sides are", "[collectives]") {
    Expressions expressions(4);
    const auto leaf = [&](std::int32_t rank) { return expressions.leaf(rank, 0); };
    const auto first = expressions.combine(leaf(0), leaf(1));
    const auto second = expressions.combine(leaf(0), leaf(2));
    const auto third = expressions.combine(leaf(0), leaf(3));
    CHECK(std::set{first, second, third}.size() == 3);
    CHECK(expressions.combine(leaf(0), leaf(1)) == first);
    CHECK(expressions.combine(leaf(0), leaf(2)) == second);
    CHECK(expressions.combine(leaf(0), leaf(3)) == third);
    CHECK(expressions.combine(leaf(1), leaf(0)) != first);
    CHECK_FALSE(expressions.combine(*first, leaf(1)).has_value());
    CHECK_FALSE(expressions.combine(*first, leaf(1)).has_value());
    const auto all = expressions.combine(*first, *expressions.combine(leaf(2), leaf(3)));
    CHECK(expressions.contains_all(*all));
    CHECK_FALSE(expressions.contains_all(*second));
}

}  // namespace dlrt::coll
