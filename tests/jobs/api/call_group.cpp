// SPDX-License-Identifier: Apache-2.0
/// Groups of calls: orders that would deadlock outside of one, what end reports, what is refused;
/// even np.
#include "tests/jobs/api/job.hpp"

#include <cstring>

using namespace job;

namespace {

constexpr std::int64_t large_bytes = 1 << 20;

/// Every rank sends to all others before it receives anything, larger than any eager message.
void all_send_first(const World& world) {
    const auto size = static_cast<std::size_t>(world.size);
    std::vector<unsigned char> outgoing(large_bytes);
    std::vector<std::vector<unsigned char>> incoming(size, outgoing);
    std::vector<dlrt_status> statuses(size);
    fill_bytes(outgoing, static_cast<std::uint64_t>(world.rank));
    expect_ok(dlrt_group_start());
    for (std::int32_t peer = 0; peer < world.size; ++peer) {
        if (peer == world.rank) continue;
        expect_ok(dlrt_send(outgoing.data(), large_bytes, DLRT_BYTE, peer, 3, DLRT_COMM_WORLD));
    }
    for (std::int32_t peer = 0; peer < world.size; ++peer) {
        if (peer == world.rank) continue;
        const auto i = static_cast<std::size_t>(peer);
        expect_ok(dlrt_recv(
            incoming[i].data(), large_bytes, DLRT_BYTE, peer, 3, DLRT_COMM_WORLD, &statuses[i]
        ));
    }
    expect_ok(dlrt_group_end());
    for (std::int32_t peer = 0; peer < world.size; ++peer) {
        if (peer == world.rank) continue;
        const auto i = static_cast<std::size_t>(peer);
        expect_bytes(incoming[i], incoming[i].size(), i);
        expect_equal(statuses[i].source, peer);
        expect_equal(statuses[i].size_bytes, static_cast<std::uint64_t>(large_bytes));
    }
}

/// Even ranks begin with one communicator, odd ones with the other.
void opposite_orders(const World& world) {
    constexpr std::int64_t count = 100'000;
    dlrt_comm comms[2];
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &comms[0]));
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &comms[1]));
    std::vector<std::int64_t> input(count, world.rank), sums(count), greatest(count);
    const auto begin = [&](bool is_first) {
        if (is_first) {
            expect_ok(
                dlrt_allreduce(input.data(), sums.data(), count, DLRT_INT64, DLRT_SUM, comms[0])
            );
            expect_ok(dlrt_barrier(comms[0]));
        } else {
            expect_ok(
                dlrt_allreduce(input.data(), greatest.data(), count, DLRT_INT64, DLRT_MAX, comms[1])
            );
        }
    };
    const bool is_even = world.rank % 2 == 0;
    expect_ok(dlrt_group_start());
    begin(is_even);
    // A message between the collectives, in whose order the ranks differ as well.
    std::int32_t from_other = -1;
    const std::int32_t other = world.rank ^ 1;
    expect_ok(dlrt_ssend(&world.rank, 1, DLRT_INT32, other, 1, comms[0]));
    begin(!is_even);
    expect_ok(dlrt_recv(&from_other, 1, DLRT_INT32, DLRT_ANY_SOURCE, 1, comms[0], nullptr));
    expect_ok(dlrt_group_end());
    expect_equal(from_other, other);
    expect_equal(sums.front(), std::int64_t{world.size} * (world.size - 1) / 2);
    expect_equal(sums.back(), sums.front());
    expect_equal(greatest.back(), std::int64_t{world.size - 1});
    expect_ok(dlrt_comm_free(&comms[0]));
    expect_ok(dlrt_comm_free(&comms[1]));
}

/// Exchanges, and a matched message, with ranks of a communicator in reverse order.
void other_receives(const World& world) {
    dlrt_comm reversed;
    expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, 0, -world.rank, &reversed));
    const std::int32_t self = world.size - 1 - world.rank;
    const std::int32_t right = (self + 1) % world.size;
    const std::int32_t left = (self + world.size - 1) % world.size;
    std::int32_t early = -1;
    dlrt_message message;
    expect_ok(dlrt_send(&self, 1, DLRT_INT32, right, 8, reversed));
    expect_ok(dlrt_mprobe(left, 8, reversed, &message, nullptr));

    std::vector<unsigned char> replaced(large_bytes);
    fill_bytes(replaced, static_cast<std::uint64_t>(self));
    std::int32_t received = -1;
    dlrt_status statuses[4];
    expect_ok(dlrt_group_start());
    expect_ok(dlrt_mrecv(&early, 1, DLRT_INT32, &message, &statuses[0]));
    expect_ok(dlrt_sendrecv_replace(
        replaced.data(), large_bytes, DLRT_BYTE, right, 4, left, 4, reversed, &statuses[1]
    ));
    expect_ok(dlrt_sendrecv(
        &self, 1, DLRT_INT32, right, 5, &received, 1, DLRT_INT32, left, 5, reversed, &statuses[2]
    ));
    expect_ok(dlrt_recv(nullptr, 0, DLRT_BYTE, DLRT_PROC_NULL, 0, reversed, &statuses[3]));
    expect_ok(dlrt_group_end());
    expect_equal(early, left);
    expect_equal(received, left);
    expect_bytes(replaced, replaced.size(), static_cast<std::uint64_t>(left));
    for (int i = 0; i < 3; ++i) expect_equal(statuses[i].source, left);
    expect_equal(statuses[1].tag, 4);
    expect_equal(statuses[3].source, std::int32_t{DLRT_PROC_NULL});
    expect_ok(dlrt_comm_free(&reversed));
}

/// The inner end returns although nobody receives yet.
void nesting(const World& world) {
    std::int32_t received = -1;
    expect_ok(dlrt_group_start());
    expect_ok(dlrt_group_start());
    expect_ok(dlrt_ssend(&world.rank, 1, DLRT_INT32, world.next, 6, DLRT_COMM_WORLD));
    expect_ok(dlrt_group_end());
    expect_ok(dlrt_recv(&received, 1, DLRT_INT32, world.previous, 6, DLRT_COMM_WORLD, nullptr));
    expect_ok(dlrt_group_end());
    expect_equal(received, world.previous);
}

bool error_has(const char* text) {
    return std::strstr(dlrt_last_error(), text) != nullptr;
}

void errors(const World& world) {
    expect_error(dlrt_group_end(), DLRT_ERR_ARG);
    expect(error_has("dlrt_group_end: this thread has no open group"), "text without a start");

    std::int32_t shorts[2] = {-1, -1}, whole[4] = {};
    const std::int32_t values[4] = {1, 2, 3, 4};
    dlrt_status statuses[2];
    expect_ok(dlrt_group_start());
    expect_error(dlrt_send(values, 4, DLRT_INT32, world.size, 0, DLRT_COMM_WORLD), DLRT_ERR_RANK);
    expect_error(dlrt_bcast(nullptr, 4, DLRT_INT32, 0, DLRT_COMM_WORLD), DLRT_ERR_BUFFER);
    dlrt_comm made = DLRT_COMM_NULL;
    expect_error(dlrt_comm_dup(DLRT_COMM_WORLD, &made), DLRT_ERR_UNSUPPORTED);
    expect(error_has("dlrt_comm_dup: not between dlrt_group_start"), "text of the refusal");
    expect_error(dlrt_comm_split(DLRT_COMM_WORLD, 0, 0, &made), DLRT_ERR_UNSUPPORTED);
    expect_error(dlrt_finalize(), DLRT_ERR_UNSUPPORTED);
    expect(error_has("a group of calls is open"), "text of finalize");

    for (int tag = 0; tag < 2; ++tag) {
        expect_ok(dlrt_send(values, 4, DLRT_INT32, world.next, tag, DLRT_COMM_WORLD));
    }
    expect_ok(dlrt_recv(shorts, 2, DLRT_INT32, world.previous, 0, DLRT_COMM_WORLD, &statuses[0]));
    expect_ok(dlrt_recv(whole, 4, DLRT_INT32, world.previous, 1, DLRT_COMM_WORLD, &statuses[1]));
    // Fails as well, but later in the order of calls.
    std::int32_t single = -1;
    expect_ok(dlrt_sendrecv(
        values, 4, DLRT_INT32, world.next, 2, &single, 1, DLRT_INT32, world.previous, 2,
        DLRT_COMM_WORLD, nullptr
    ));
    expect_error(dlrt_group_end(), DLRT_ERR_TRUNCATE);
    expect(error_has("dlrt_group_end: dlrt_recv: receive from"), "text of the end");
    expect(error_has("(2 of 6 operations failed)"), "how many");
    expect_equal(statuses[0].error, DLRT_ERR_TRUNCATE);
    expect_equal(statuses[1].error, DLRT_OK);
    expect(shorts[1] == 2 && whole[3] == 4, "what was received all the same");
}

/// Requests, waits and probes are as outside; afterwards so are blocking calls.
void mixed_with_requests(const World& world) {
    std::int32_t by_request = -1, persistent = -1, plain = -1;
    dlrt_request receive, round;
    expect_ok(
        dlrt_recv_init(&persistent, 1, DLRT_INT32, world.previous, 11, DLRT_COMM_WORLD, &round)
    );
    expect_ok(dlrt_group_start());
    expect_ok(dlrt_irecv(&by_request, 1, DLRT_INT32, world.previous, 10, DLRT_COMM_WORLD, &receive)
    );
    expect_ok(dlrt_start(round));
    for (std::int32_t tag = 10; tag <= 12; ++tag) {
        expect_ok(dlrt_send(&world.rank, 1, DLRT_INT32, world.next, tag, DLRT_COMM_WORLD));
    }
    expect_ok(dlrt_wait(&receive, nullptr));
    expect_ok(dlrt_wait(&round, nullptr));
    expect_ok(dlrt_probe(world.previous, 12, DLRT_COMM_WORLD, nullptr));
    expect_equal(by_request, world.previous);
    expect_equal(persistent, world.previous);
    expect_ok(dlrt_group_end());
    expect_ok(dlrt_recv(&plain, 1, DLRT_INT32, world.previous, 12, DLRT_COMM_WORLD, nullptr));
    expect_equal(plain, world.previous);
    expect_ok(dlrt_request_free(&round));
}

}  // namespace

int main() {
    const World world;
    for (int round = 0; round < 3; ++round) {
        all_send_first(world);
        opposite_orders(world);
        other_receives(world);
        nesting(world);
        mixed_with_requests(world);
    }
    errors(world);
    // An empty one.
    expect_ok(dlrt_group_start());
    expect_ok(dlrt_group_end());
    barrier();
}
