// SPDX-License-Identifier: Apache-2.0
/// Predictions against times worked out by hand.
#include "collectives/cost.hpp"

#include "collectives/groups.hpp"
#include "tests/collectives/all_ranks.hpp"

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

constexpr Machine machine{
    .latency_ns = 100,
    .overhead_ns = 10,
    .gap_ns_per_byte = 1,
    .reduce_ns_per_byte = 2,
    .copy_ns_per_byte = 0.5,
    .switch_ns = 1000,
    .cores = 0};

double time_of(
    Collective collective, std::string_view name, std::int32_t size, std::uint64_t bytes,
    const Machine& on = machine
) {
    const Algorithm* algorithm = find_algorithm(collective, name);
    REQUIRE(algorithm != nullptr);
    return predict_ns(all_ranks(*algorithm, size, 0, Placements::none), bytes, on);
}

}  // namespace

TEST_CASE("cost: a message costs two overheads, the latency and its bytes", "[collectives]") {
    CHECK(time_of(Collective::bcast, "binomial", 2, 50) == Approx(2 * 10 + 100 + 50));
    CHECK(time_of(Collective::bcast, "binomial", 2, 0) == Approx(2 * 10 + 100));
}

TEST_CASE("cost: what follows from a message begins when it is there", "[collectives]") {
    // 0>2, then 2>3; the second message of rank 0 is there before.
    CHECK(time_of(Collective::bcast, "binomial", 4, 50) == Approx(2 * 170));
    // All three are sent by rank 0, each when its core is free from the one before: 0, 60, 120.
    CHECK(time_of(Collective::scatter, "linear", 4, 4 * 50) == Approx(2 * 60 + 170));
}

TEST_CASE("cost: reducing and copying take the core's time", "[collectives]") {
    CHECK(time_of(Collective::reduce, "binomial", 2, 50) == Approx(170 + 50 * 2));
    CHECK(time_of(Collective::allgather, "ring", 1, 40) == Approx(20));
}

TEST_CASE("cost: ranks that share a core wait for each other and for the switch", "[collectives]") {
    Machine shared = machine;
    shared.cores = 1;
    // The first byte is there at 110; then the core turns to rank 1.
    CHECK(time_of(Collective::bcast, "binomial", 2, 50, shared) == Approx(110 + 1000 + 60));
    // Ranks 0 and 1 on one core, 2 and 3 on the other: 2 turns to 3 for the last message.
    shared.cores = 2;
    const double at_two = 170, at_three = at_two + 110 + 1000 + 60;
    CHECK(time_of(Collective::bcast, "binomial", 4, 50, shared) == Approx(at_three));
}

TEST_CASE("cost: between groups messages cost what is said of that", "[collectives]") {
    Machine two_hosts = machine;
    two_hosts.between_latency_ns = 1000;
    two_hosts.between_overhead_ns = 100;
    two_hosts.between_gap_ns_per_byte = 3;
    const Groups groups = *Groups::parse("2", 4);
    const Algorithm& bcast = *find_algorithm(Collective::bcast, "hierarchical");
    const auto schedules = all_ranks(bcast, 4, 0, Placements::none, &groups);
    const double between = 2 * 100 + 1000 + 50 * 3, within = 170;
    CHECK(predict_ns(schedules, 50, two_hosts) == Approx(between + within));
    // With a core on each host, ranks 2 and 3 have one; it has to turn to 3.
    two_hosts.cores = 1;
    const double first_byte = between + 110;
    CHECK(predict_ns(schedules, 50, two_hosts) == Approx(first_byte + 1000 + 60));
}

TEST_CASE("cost: more cores than ranks are as one for each", "[collectives]") {
    Machine many = machine;
    many.cores = 64;
    for (const Algorithm& algorithm : algorithms()) {
        const auto schedules = all_ranks(algorithm, 7, 0, Placements::none);
        const double time = predict_ns(schedules, 7 * 64, machine);
        CHECK(time >= 2 * 10 + 100);
        CHECK(predict_ns(schedules, 7 * 64, many) == Approx(time));
    }
}

TEST_CASE("cost: few rounds win for short vectors and few bytes for long ones", "[collectives]") {
    const auto allreduce = [](std::string_view name, std::uint64_t bytes) {
        return time_of(Collective::allreduce, name, 16, bytes);
    };
    CHECK(allreduce("recursive_doubling", 8) < allreduce("ring", 8));
    CHECK(allreduce("recursive_doubling", 1 << 20) > allreduce("ring", 1 << 20));
}

}  // namespace dlrt::coll
