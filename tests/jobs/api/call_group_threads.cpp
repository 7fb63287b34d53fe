// SPDX-License-Identifier: Apache-2.0
/// Groups of calls in two threads at once, each on its own communicator, beside a thread that is in
/// none; and what a thread leaves that ends within one.
#include "tests/jobs/api/job.hpp"

#include <thread>

using namespace job;

namespace {

constexpr std::int64_t count = 50'000;

/// Sends before it receives, and sums, again and again.
void work_in_groups(const World& world, dlrt_comm comm, std::int32_t salt) {
    std::vector<std::int32_t> outgoing(count, world.rank + salt), incoming(count);
    std::vector<std::int32_t> sum(count);
    for (int round = 0; round < 20; ++round) {
        dlrt_status status;
        expect_ok(dlrt_group_start());
        expect_ok(dlrt_ssend(outgoing.data(), count, DLRT_INT32, world.next, 0, comm));
        expect_ok(dlrt_allreduce(outgoing.data(), sum.data(), count, DLRT_INT32, DLRT_SUM, comm));
        expect_ok(dlrt_recv(incoming.data(), count, DLRT_INT32, world.previous, 0, comm, &status));
        expect_ok(dlrt_group_end());
        expect_equal(status.source, world.previous);
        expect_equal(incoming.back(), world.previous + salt);
        expect_equal(sum.back(), world.size * (world.size - 1) / 2 + world.size * salt);
    }
}

/// Not in a group: each call is complete when it returns.
void work_plainly(const World& world, dlrt_comm comm) {
    for (std::int32_t round = 0; round < 100; ++round) {
        std::int32_t value = -1;
        expect_ok(dlrt_send(&round, 1, DLRT_INT32, world.next, 0, comm));
        expect_ok(dlrt_recv(&value, 1, DLRT_INT32, world.previous, 0, comm, nullptr));
        expect_equal(value, round);
        expect_error(dlrt_group_end(), DLRT_ERR_ARG);
    }
}

}  // namespace

int main() {
    const World world(DLRT_THREAD_MULTIPLE);
    dlrt_comm comms[3];
    for (dlrt_comm& comm : comms) expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &comm));
    std::thread first(work_in_groups, std::cref(world), comms[0], 100);
    std::thread second(work_in_groups, std::cref(world), comms[1], 200);
    work_plainly(world, comms[2]);
    first.join();
    second.join();

    static std::int32_t left = 7;
    std::thread([&] {
        expect_ok(dlrt_group_start());
        expect_ok(dlrt_ssend(&left, 1, DLRT_INT32, world.next, 1, comms[0]));
    }).join();
    std::int32_t value = 0;
    expect_ok(dlrt_recv(&value, 1, DLRT_INT32, world.previous, 1, comms[0], nullptr));
    expect_equal(value, 7);
    for (dlrt_comm& comm : comms) expect_ok(dlrt_comm_free(&comm));
}
