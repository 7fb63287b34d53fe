// SPDX-License-Identifier: Apache-2.0
/// Cancel of receives, and of a send, which is refused; np >= 2.
#include "tests/jobs/api/job.hpp"

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;

void send_is_refused(const World& world) {
    const int outgoing = 7;
    int incoming = 0;
    dlrt_request request{};
    int is_complete = 1;
    expect_ok(dlrt_issend(&outgoing, 1, DLRT_INT, 0, 1, DLRT_COMM_SELF, &request));
    expect_ok(dlrt_test(&request, &is_complete, nullptr));
    expect_equal(is_complete, 0);
    expect_error(dlrt_cancel(request), DLRT_ERR_UNSUPPORTED);
    expect_ok(dlrt_recv(&incoming, 1, DLRT_INT, 0, 1, DLRT_COMM_SELF, nullptr));
    dlrt_status status{};
    expect_ok(dlrt_wait(&request, &status));
    expect_equal(status.cancelled, 0);
    expect_equal(incoming, 7);
    static_cast<void>(world);
}

/// A cancelled receive of any source takes no later message.
void cancelled_takes_nothing(const World& world) {
    int old_buffer = -1;
    int incoming = 0;
    dlrt_request request{};
    dlrt_status status{};
    expect_ok(dlrt_irecv(&old_buffer, 1, DLRT_INT, DLRT_ANY_SOURCE, 77, comm, &request));
    expect_ok(dlrt_cancel(request));
    expect_ok(dlrt_wait(&request, &status));
    expect_equal(status.cancelled, 1);
    barrier();
    expect_ok(dlrt_sendrecv(
        &world.rank, 1, DLRT_INT, world.next, 77, &incoming, 1, DLRT_INT, world.previous, 77, comm,
        &status
    ));
    expect_equal(incoming, world.previous);
    expect_equal(status.cancelled, 0);
    expect_equal(old_buffer, -1);
}

/// After the message has come, it is received or the receive is cancelled, never both.
void exactly_one(const World& world) {
    for (int round = 0; round < 200; ++round) {
        int incoming = -1;
        dlrt_request request{};
        dlrt_status status{};
        expect_ok(dlrt_irecv(&incoming, 1, DLRT_INT, world.previous, 78, comm, &request));
        expect_ok(dlrt_send(&round, 1, DLRT_INT, world.next, 78, comm));
        if (round % 2 == 0) barrier();
        expect_ok(dlrt_cancel(request));
        expect_ok(dlrt_wait(&request, &status));
        if (status.cancelled != 0) {
            expect_equal(incoming, -1);
            expect_ok(dlrt_recv(&incoming, 1, DLRT_INT, world.previous, 78, comm, nullptr));
        }
        expect_equal(incoming, round);
    }
}

void many(const World& world) {
    long before = 0;
    for (int round = 0; round < 10000; ++round) {
        int ignored = 0;
        dlrt_request request{};
        expect_ok(dlrt_irecv(&ignored, 1, DLRT_INT, world.previous, 79, comm, &request));
        expect_ok(dlrt_cancel(request));
        expect_ok(dlrt_wait(&request, nullptr));
        if (round == 1000) before = status_kib("VmRSS");
    }
    if (!is_memory_measurable) return;
    expect(status_kib("VmRSS") - before < 256, "memory grows by less than 256 KiB");
}

void persistent(const World& world) {
    int incoming = -1;
    dlrt_request request{};
    dlrt_status status{};
    expect_ok(dlrt_recv_init(&incoming, 1, DLRT_INT, world.previous, 80, comm, &request));
    expect_error(dlrt_cancel(request), DLRT_ERR_REQUEST);
    for (int round = 0; round < 20; ++round) {
        expect_ok(dlrt_start(request));
        expect_ok(dlrt_cancel(request));
        expect_ok(dlrt_wait(&request, &status));
        expect_equal(status.cancelled, 1);
        barrier();
        expect_ok(dlrt_start(request));
        expect_ok(dlrt_send(&round, 1, DLRT_INT, world.next, 80, comm));
        expect_ok(dlrt_wait(&request, &status));
        expect_equal(status.cancelled, 0);
        expect_equal(incoming, round);
        barrier();
    }
    expect_ok(dlrt_request_free(&request));
}

}  // namespace

int main() {
    const World world;
    send_is_refused(world);
    cancelled_takes_nothing(world);
    exactly_one(world);
    many(world);
    persistent(world);
}
