// SPDX-License-Identifier: Apache-2.0
/// Splits in which some or all ranks take no part; keys that reorder; np 5, on one host or on two
/// with ranks 0 to 2 and 3 to 4, which have a /dev/shm each.
#include "tests/jobs/api/job.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace job;

namespace {

const int host_count = std::atoi(std::getenv("DLRT_NUM_NODES"));

bool is_null(dlrt_comm comm) {
    return comm.index == 0 && comm.generation == 0;
}

std::int64_t sum(dlrt_comm comm, std::int64_t value) {
    std::int64_t total = 0;
    expect_ok(dlrt_allreduce(&value, &total, 1, DLRT_INT64, DLRT_SUM, comm));
    return total;
}

void check_member(dlrt_comm comm, int rank, int size, std::int64_t sum_of_world_ranks) {
    std::int32_t value = -1;
    expect_ok(dlrt_comm_size(comm, &value));
    expect_equal(value, size);
    expect_ok(dlrt_comm_rank(comm, &value));
    expect_equal(value, rank);
    expect_equal(sum(comm, rank_of_world), sum_of_world_ranks);
}

void odd_ranks_stay_out(const World& world) {
    dlrt_comm evens{};
    const bool is_odd = world.rank % 2 != 0;
    expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, is_odd ? DLRT_UNDEFINED : 4, 0, &evens));
    expect_equal(is_null(evens), is_odd);
    if (is_odd) return;
    check_member(evens, world.rank / 2, 3, 0 + 2 + 4);
    expect_ok(dlrt_comm_free(&evens));
    expect(is_null(evens), "free clears the handle");
}

void odd_ranks_stay_out_of_the_host(const World& world) {
    dlrt_comm evens{};
    const bool is_odd = world.rank % 2 != 0;
    expect_ok(dlrt_comm_split_host(DLRT_COMM_WORLD, is_odd ? 0 : 1, 0, &evens));
    expect_equal(is_null(evens), is_odd);
    if (is_odd) return;
    if (host_count == 1) {
        check_member(evens, world.rank / 2, 3, 0 + 2 + 4);
    } else if (world.rank == 4) {
        check_member(evens, 0, 1, 4);
    } else {
        check_member(evens, world.rank / 2, 2, 0 + 2);
    }
    expect_ok(dlrt_comm_free(&evens));
}

/// In the folder that just the ranks of a host share.
std::filesystem::path token_of(int rank) {
    const std::string job = std::getenv("DLRT_JOBID");
    return "/dev/shm/split-" + job + "-" + std::to_string(rank);
}

/// The first rank of each host leaves a token there.
void members_share_memory(const World& world, dlrt_comm host) {
    const int first = host_count == 1 || world.rank < 3 ? 0 : 3;
    if (world.rank == first) expect(bool(std::ofstream(token_of(first))), "token");
    barrier();
    for (const int other : {0, 3}) {
        const bool is_of_own_host = other == first;
        expect_equal(std::filesystem::exists(token_of(other)), is_of_own_host);
    }
    expect_ok(dlrt_barrier(host));
    if (world.rank == first) std::filesystem::remove(token_of(first));
}

void all_of_a_host(const World& world) {
    dlrt_comm host{};
    expect_ok(dlrt_comm_split_host(DLRT_COMM_WORLD, 1, 0, &host));
    if (host_count == 1) {
        check_member(host, world.rank, 5, 10);
    } else if (world.rank < 3) {
        check_member(host, world.rank, 3, 0 + 1 + 2);
    } else {
        check_member(host, world.rank - 3, 2, 3 + 4);
    }
    members_share_memory(world, host);
    expect_ok(dlrt_comm_free(&host));
}

void nobody_takes_part() {
    dlrt_comm comm = DLRT_COMM_WORLD;
    expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, DLRT_UNDEFINED, 1, &comm));
    expect(is_null(comm), "null everywhere");
    expect_ok(dlrt_comm_split_host(DLRT_COMM_WORLD, 0, 1, &comm));
    expect(is_null(comm), "null everywhere");
}

void one_takes_part(const World& world) {
    dlrt_comm comm{};
    const bool is_last = world.rank == 4;
    expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, is_last ? 0 : DLRT_UNDEFINED, 0, &comm));
    expect_equal(is_null(comm), !is_last);
    if (!is_last) return;
    check_member(comm, 0, 1, 4);
    expect_ok(dlrt_comm_free(&comm));
}

/// Keys 2 2 1 1 0: ranks 4, 2, 3, 0, 1.
void keys_reorder(const World& world) {
    dlrt_comm comm{};
    const int key = 2 - world.rank / 2;
    expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, 0, key, &comm));
    const int rank_by_world_rank[5] = {3, 4, 1, 2, 0};
    check_member(comm, rank_by_world_rank[world.rank], 5, 10);
    dlrt_comparison result = DLRT_IDENT;
    expect_ok(dlrt_comm_compare(comm, DLRT_COMM_WORLD, &result));
    expect(result == DLRT_SIMILAR, "reordered");
    // Statuses speak of ranks in the communicator.
    std::int32_t rank = 0;
    expect_ok(dlrt_comm_rank(comm, &rank));
    std::int32_t incoming = -1;
    dlrt_status status{};
    expect_ok(dlrt_sendrecv(
        &rank, 1, DLRT_INT, (rank + 1) % 5, 1, &incoming, 1, DLRT_INT, DLRT_ANY_SOURCE, 1, comm,
        &status
    ));
    expect_equal(status.source, (rank + 4) % 5);
    expect_equal(incoming, status.source);
    expect_ok(dlrt_comm_free(&comm));
}

/// Messages of one communicator are never received in another.
void contexts_are_apart(const World& world) {
    dlrt_comm first{}, second{};
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &first));
    expect_ok(dlrt_comm_dup(first, &second));
    dlrt_comparison result = DLRT_IDENT;
    expect_ok(dlrt_comm_compare(first, second, &result));
    expect(result == DLRT_CONGRUENT, "duplicates are congruent");
    const dlrt_comm comms[3] = {second, DLRT_COMM_WORLD, first};
    int outgoing[3] = {100, 101, 102};
    dlrt_request requests[3];
    for (int i = 0; i < 3; ++i) {
        expect_ok(dlrt_isend(&outgoing[i], 1, DLRT_INT, world.next, 1, comms[i], &requests[i]));
    }
    for (int i = 2; i >= 0; --i) {
        int incoming = 0;
        expect_ok(
            dlrt_recv(&incoming, 1, DLRT_INT, DLRT_ANY_SOURCE, DLRT_ANY_TAG, comms[i], nullptr)
        );
        expect_equal(incoming, 100 + i);
    }
    expect_ok(dlrt_waitall(3, requests, nullptr));
    expect_ok(dlrt_comm_free(&first));
    expect_ok(dlrt_comm_free(&second));
}

/// Operations in flight complete although their communicator is freed.
void freed_early(const World& world) {
    dlrt_comm comm{};
    expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, 0, -world.rank, &comm));
    std::int32_t rank = 0;
    expect_ok(dlrt_comm_rank(comm, &rank));
    int incoming = -1;
    dlrt_request requests[2];
    expect_ok(dlrt_irecv(&incoming, 1, DLRT_INT, DLRT_ANY_SOURCE, 2, comm, &requests[0]));
    expect_ok(dlrt_isend(&rank, 1, DLRT_INT, (rank + 1) % 5, 2, comm, &requests[1]));
    dlrt_comm stale = comm;
    barrier();
    expect_ok(dlrt_comm_free(&comm));
    dlrt_status statuses[2];
    expect_ok(dlrt_waitall(2, requests, statuses));
    expect_equal(incoming, (rank + 4) % 5);
    expect_equal(statuses[0].source, (rank + 4) % 5);
    expect_error(dlrt_barrier(stale), DLRT_ERR_COMM);
    expect_error(dlrt_comm_free(&stale), DLRT_ERR_COMM);
}

}  // namespace

int main() {
    const World world;
    expect_equal(world.size, 5);
    odd_ranks_stay_out(world);
    odd_ranks_stay_out_of_the_host(world);
    all_of_a_host(world);
    nobody_takes_part();
    one_takes_part(world);
    keys_reorder(world);
    contexts_are_apart(world);
    freed_early(world);
    for (int round = 0; round < 500; ++round) odd_ranks_stay_out(world);
}
