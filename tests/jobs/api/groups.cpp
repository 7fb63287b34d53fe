// SPDX-License-Identifier: Apache-2.0
/// Groups behind handles, and communicators from them; np 6.
#include "tests/jobs/api/job.hpp"

#include <array>

using namespace job;

namespace {

dlrt_group world_group() {
    dlrt_group group{};
    expect_ok(dlrt_comm_group(DLRT_COMM_WORLD, &group));
    return group;
}

template<std::size_t N>
dlrt_group include(const std::array<std::int32_t, N>& ranks) {
    dlrt_group world = world_group(), group{};
    expect_ok(dlrt_group_incl(world, N, ranks.data(), &group));
    expect_ok(dlrt_group_free(&world));
    return group;
}

std::int64_t sum(dlrt_comm comm, std::int64_t value) {
    std::int64_t total = 0;
    expect_ok(dlrt_allreduce(&value, &total, 1, DLRT_INT64, DLRT_SUM, comm));
    return total;
}

/// The group {3, 1, 0} in this order.
void order_is_kept(const World& world) {
    dlrt_group group = include(std::array{3, 1, 0});
    dlrt_comm comm{};
    expect_ok(dlrt_comm_create(DLRT_COMM_WORLD, group, &comm));
    const bool is_member = world.rank == 0 || world.rank == 1 || world.rank == 3;
    expect_equal(comm.index != 0, is_member);
    if (is_member) {
        std::array<int, 3> ranks{};
        expect_ok(dlrt_allgather(&world.rank, 1, DLRT_INT, ranks.data(), comm));
        expect(ranks == std::array{3, 1, 0}, "ranks of the new communicator");
        expect_ok(dlrt_comm_free(&comm));
    }
    expect_ok(dlrt_group_free(&group));
}

/// One call, two disjoint groups.
void disjoint_groups(const World& world) {
    const bool is_even = world.rank % 2 == 0;
    dlrt_group group = is_even ? include(std::array{0, 2, 4}) : include(std::array{1, 3, 5});
    dlrt_comm comm{};
    expect_ok(dlrt_comm_create(DLRT_COMM_WORLD, group, &comm));
    std::int32_t size = 0;
    expect_ok(dlrt_comm_size(comm, &size));
    expect_equal(size, 3);
    expect_equal(sum(comm, world.rank), std::int64_t{is_even ? 6 : 9});
    expect_ok(dlrt_comm_free(&comm));
    expect_ok(dlrt_group_free(&group));
}

/// Without a parent: equal texts on disjoint groups, a hundred times, and overlapping groups at
/// once.
void from_groups(const World& world) {
    const bool is_low = world.rank < 3;
    dlrt_group third = is_low ? include(std::array{2, 0, 1}) : include(std::array{5, 3, 4});
    for (int round = 0; round < 100; ++round) {
        dlrt_comm comm{};
        expect_ok(dlrt_comm_create_from_group(third, "same", &comm));
        expect_equal(sum(comm, world.rank + round), std::int64_t{(is_low ? 3 : 12) + 3 * round});
        expect_ok(dlrt_comm_free(&comm));
    }
    expect_ok(dlrt_group_free(&third));

    dlrt_group all = world_group();
    dlrt_group evens = include(std::array{0, 2, 4});
    dlrt_comm everybody{}, even{};
    if (world.rank == 4) {
        expect_ok(dlrt_comm_create_from_group(all, "everybody", &everybody));
        expect_ok(dlrt_comm_create_from_group(evens, "evens", &even));
    } else {
        // Leaders don't wait for the others, so a different order is no deadlock.
        if (world.rank == 0) expect_ok(dlrt_comm_create_from_group(evens, "evens", &even));
        expect_ok(dlrt_comm_create_from_group(all, "everybody", &everybody));
        if (world.rank == 2) expect_ok(dlrt_comm_create_from_group(evens, "evens", &even));
    }
    expect_equal(sum(everybody, world.rank), std::int64_t{15});
    if (world.rank % 2 == 0) {
        expect_equal(sum(even, world.rank), std::int64_t{6});
        expect_ok(dlrt_comm_free(&even));
    }
    expect_ok(dlrt_comm_free(&everybody));
    expect_ok(dlrt_group_free(&all));
    expect_ok(dlrt_group_free(&evens));
}

void empty_group() {
    dlrt_comm comm = DLRT_COMM_WORLD;
    expect_ok(dlrt_comm_create(DLRT_COMM_WORLD, DLRT_GROUP_EMPTY, &comm));
    expect_equal(comm.index, 0u);
    comm = DLRT_COMM_WORLD;
    expect_ok(dlrt_comm_create_from_group(DLRT_GROUP_EMPTY, "nobody", &comm));
    expect_equal(comm.index, 0u);
}

void translation() {
    dlrt_group all = world_group();
    dlrt_group two = include(std::array{5, 4});
    const std::array<std::int32_t, 3> ranks{0, 5, DLRT_PROC_NULL};
    std::array<std::int32_t, 3> translated{};
    expect_ok(dlrt_group_translate(all, 3, ranks.data(), two, translated.data()));
    expect(translated == std::array<std::int32_t, 3>{DLRT_UNDEFINED, 0, DLRT_PROC_NULL}, "ranks");
    std::int32_t rank = -1;
    expect_ok(dlrt_group_rank(two, &rank));
    const int right[6] = {DLRT_UNDEFINED, DLRT_UNDEFINED, DLRT_UNDEFINED, DLRT_UNDEFINED, 1, 0};
    expect_equal(rank, right[rank_of_world]);
    expect_ok(dlrt_group_free(&all));
    expect_ok(dlrt_group_free(&two));
}

void expect_comparison(dlrt_group a, dlrt_group b, dlrt_comparison right) {
    dlrt_comparison result = DLRT_CONGRUENT;
    expect_ok(dlrt_group_compare(a, b, &result));
    expect(result == right, "comparison");
}

void comparison() {
    dlrt_group first = include(std::array{0, 1, 2});
    dlrt_group again = include(std::array{0, 1, 2});
    dlrt_group reordered = include(std::array{2, 0, 1});
    dlrt_group other = include(std::array{0, 1, 3});
    expect_comparison(first, again, DLRT_IDENT);
    expect_comparison(first, reordered, DLRT_SIMILAR);
    expect_comparison(first, other, DLRT_UNEQUAL);
    for (dlrt_group* group : {&first, &again, &reordered, &other}) {
        expect_ok(dlrt_group_free(group));
    }
}

void set_algebra() {
    dlrt_group some = include(std::array{4, 2, 0});
    dlrt_group result{};
    expect_ok(dlrt_group_union(some, DLRT_GROUP_EMPTY, &result));
    expect_comparison(result, some, DLRT_IDENT);
    expect_ok(dlrt_group_free(&result));
    expect_ok(dlrt_group_intersection(some, DLRT_GROUP_EMPTY, &result));
    expect_comparison(result, DLRT_GROUP_EMPTY, DLRT_IDENT);
    expect_ok(dlrt_group_free(&result));
    expect_ok(dlrt_group_difference(some, DLRT_GROUP_EMPTY, &result));
    expect_comparison(result, some, DLRT_IDENT);
    expect_ok(dlrt_group_free(&result));
    dlrt_group all = world_group();
    const std::int32_t down[1][3] = {{5, 1, -2}};
    expect_ok(dlrt_group_range_incl(all, 1, down, &result));
    dlrt_group right = include(std::array{5, 3, 1});
    expect_comparison(result, right, DLRT_IDENT);
    expect_ok(dlrt_group_free(&result));
    expect_ok(dlrt_group_free(&right));
    expect_ok(dlrt_group_range_excl(all, 1, down, &result));
    right = include(std::array{0, 2, 4});
    expect_comparison(result, right, DLRT_IDENT);
    for (dlrt_group* group : {&some, &all, &result, &right}) expect_ok(dlrt_group_free(group));
}

}  // namespace

int main() {
    const World world;
    expect_equal(world.size, 6);
    order_is_kept(world);
    disjoint_groups(world);
    from_groups(world);
    empty_group();
    translation();
    comparison();
    set_algebra();
}
