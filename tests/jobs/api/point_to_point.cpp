// SPDX-License-Identifier: Apache-2.0
/// Every form of send and receive around a ring, to oneself, to nobody, of nothing, and too long.
#include "tests/jobs/api/job.hpp"

#include <array>

using namespace job;

namespace {

constexpr dlrt_comm world_comm = DLRT_COMM_WORLD;

void check_status(const dlrt_status& status, int source, int tag, std::uint64_t size_bytes) {
    expect_equal(status.source, source);
    expect_equal(status.tag, tag);
    expect_equal(status.size_bytes, size_bytes);
    expect_equal(status.cancelled, 0);
    expect(status.error == DLRT_OK, "status without error");
}

void nonblocking_ring(const World& world) {
    for (const bool is_synchronous : {false, true}) {
        const std::int64_t outgoing = 100 + world.rank;
        std::int64_t incoming = -1;
        std::array<dlrt_request, 2> requests{};
        expect_ok(dlrt_irecv(&incoming, 1, DLRT_INT64, world.previous, 3, world_comm, &requests[0])
        );
        auto* const send = is_synchronous ? dlrt_issend : dlrt_isend;
        expect_ok(send(&outgoing, 1, DLRT_INT64, world.next, 3, world_comm, &requests[1]));
        std::array<dlrt_status, 2> statuses{};
        expect_ok(dlrt_waitall(2, requests.data(), statuses.data()));
        expect_equal(incoming, std::int64_t{100} + world.previous);
        check_status(statuses[0], world.previous, 3, 8);
        check_status(statuses[1], DLRT_ANY_SOURCE, DLRT_ANY_TAG, 0);
        for (const dlrt_request request : requests) expect_equal(request.index, 0u);
    }
}

void sendrecv_ring(const World& world) {
    const std::array<std::int32_t, 3> outgoing{world.rank, 7, -world.rank};
    std::array<std::int32_t, 4> incoming{-1, -1, -1, -1};
    dlrt_status status{};
    expect_ok(dlrt_sendrecv(
        outgoing.data(), 3, DLRT_INT32, world.next, 1, incoming.data(), 4, DLRT_INT32,
        world.previous, 1, world_comm, &status
    ));
    expect(incoming == std::array{world.previous, 7, -world.previous, -1}, "sendrecv");
    check_status(status, world.previous, 1, 12);

    std::vector<std::int32_t> values(100000, world.rank);
    expect_ok(dlrt_sendrecv_replace(
        values.data(), 100000, DLRT_INT32, world.next, 2, world.previous, 2, world_comm, &status
    ));
    for (const std::int32_t value : values) expect_equal(value, world.previous);
    check_status(status, world.previous, 2, 400000);
}

/// Blocking sends down a chain, so that nobody waits for a receive that isn't posted.
void blocking_chain(const World& world) {
    for (const bool is_synchronous : {false, true}) {
        double value = 0.5;
        if (world.rank > 0) {
            dlrt_status status{};
            expect_ok(
                dlrt_recv(&value, 1, DLRT_DOUBLE, world.rank - 1, DLRT_ANY_TAG, world_comm, &status)
            );
            check_status(status, world.rank - 1, 40 + world.rank, 8);
        }
        expect(value == 0.5 + world.rank, "the chain adds one per rank");
        value += 1;
        if (world.rank + 1 == world.size) continue;
        auto* const send = is_synchronous ? dlrt_ssend : dlrt_send;
        expect_ok(send(&value, 1, DLRT_DOUBLE, world.rank + 1, 41 + world.rank, world_comm));
    }
}

void to_oneself(const World& world) {
    for (const dlrt_comm comm : {DLRT_COMM_WORLD, DLRT_COMM_SELF}) {
        const int self = comm.index == DLRT_COMM_SELF.index ? 0 : world.rank;
        for (const std::size_t size : {0u, 1u, 100u, 70000u, 3000000u}) {
            std::vector<unsigned char> outgoing(size), incoming(size);
            fill_bytes(outgoing, 5);
            dlrt_request request{};
            dlrt_status status{};
            const auto count = static_cast<std::int64_t>(size);
            expect_ok(dlrt_isend(outgoing.data(), count, DLRT_BYTE, self, 9, comm, &request));
            expect_ok(dlrt_recv(incoming.data(), count, DLRT_BYTE, self, 9, comm, &status));
            check_status(status, self, 9, size);
            expect_ok(dlrt_wait(&request, nullptr));
            expect(incoming == outgoing, "message to oneself");
        }
    }
}

void zero_bytes(const World& world) {
    dlrt_status status{};
    expect_ok(dlrt_sendrecv(
        nullptr, 0, DLRT_INT, world.next, 6, nullptr, 0, DLRT_DOUBLE, world.previous, 6, world_comm,
        &status
    ));
    check_status(status, world.previous, 6, 0);
}

void nobody() {
    int value = 17;
    dlrt_status status{};
    expect_ok(dlrt_send(&value, 1, DLRT_INT, DLRT_PROC_NULL, 0, world_comm));
    expect_ok(dlrt_ssend(&value, 1, DLRT_INT, DLRT_PROC_NULL, 0, world_comm));
    expect_ok(dlrt_recv(&value, 1, DLRT_INT, DLRT_PROC_NULL, 0, world_comm, &status));
    check_status(status, DLRT_PROC_NULL, DLRT_ANY_TAG, 0);
    expect_ok(dlrt_sendrecv(
        &value, 1, DLRT_INT, DLRT_PROC_NULL, 0, &value, 1, DLRT_INT, DLRT_PROC_NULL, 0, world_comm,
        &status
    ));
    check_status(status, DLRT_PROC_NULL, DLRT_ANY_TAG, 0);
    std::array<dlrt_request, 2> requests{};
    std::array<dlrt_status, 2> statuses{};
    expect_ok(dlrt_isend(&value, 1, DLRT_INT, DLRT_PROC_NULL, 0, world_comm, &requests[0]));
    expect_ok(dlrt_irecv(&value, 1, DLRT_INT, DLRT_PROC_NULL, 0, world_comm, &requests[1]));
    expect_ok(dlrt_waitall(2, requests.data(), statuses.data()));
    check_status(statuses[0], DLRT_ANY_SOURCE, DLRT_ANY_TAG, 0);
    check_status(statuses[1], DLRT_PROC_NULL, DLRT_ANY_TAG, 0);
    expect_equal(value, 17);
}

/// The ends of a line talk to nobody on one side.
void open_line(const World& world) {
    const int left = world.rank > 0 ? world.rank - 1 : DLRT_PROC_NULL;
    const int right = world.rank + 1 < world.size ? world.rank + 1 : DLRT_PROC_NULL;
    int incoming = -5;
    dlrt_status status{};
    expect_ok(dlrt_sendrecv(
        &world.rank, 1, DLRT_INT, right, 8, &incoming, 1, DLRT_INT, left, 8, world_comm, &status
    ));
    expect_equal(incoming, world.rank > 0 ? world.rank - 1 : -5);
    expect_equal(status.source, left);
}

void too_long(const World& world) {
    for (const std::size_t size : {16u, 3000u, 60000u, 2000000u}) {
        std::vector<unsigned char> outgoing(size), incoming(size, 0xee);
        fill_bytes(outgoing);
        const std::size_t room = size / 2 - 3;
        dlrt_request request{};
        expect_ok(dlrt_isend(
            outgoing.data(), static_cast<std::int64_t>(size), DLRT_BYTE, world.next, 4, world_comm,
            &request
        ));
        dlrt_status status{};
        expect_error(
            dlrt_recv(
                incoming.data(), static_cast<std::int64_t>(room), DLRT_BYTE, world.previous, 4,
                world_comm, &status
            ),
            DLRT_ERR_TRUNCATE
        );
        expect(status.error == DLRT_ERR_TRUNCATE, "status of the truncated message");
        expect_equal(status.size_bytes, std::uint64_t{room});
        expect_bytes(incoming, room);
        for (std::size_t i = room; i < size; ++i) expect_equal<int>(incoming[i], 0xee);
        expect_ok(dlrt_wait(&request, nullptr));
    }
    // The messages are consumed: the next one is whole.
    sendrecv_ring(world);
}

/// Messages of one pair with equal tags arrive in the order of sending, whatever their sizes.
void order(const World& world) {
    std::vector<std::vector<unsigned char>> outgoing;
    std::vector<dlrt_request> requests;
    for (std::size_t i = 0; i < 60; ++i) {
        outgoing.emplace_back(i % 3 == 0 ? 8 : i % 3 == 1 ? 9000 : 200000);
        fill_bytes(outgoing.back(), i);
    }
    for (const std::vector<unsigned char>& bytes : outgoing) {
        requests.emplace_back();
        const auto count = static_cast<std::int64_t>(bytes.size());
        expect_ok(
            dlrt_isend(bytes.data(), count, DLRT_BYTE, world.next, 5, world_comm, &requests.back())
        );
    }
    std::vector<unsigned char> incoming(200000);
    for (std::size_t i = 0; i < outgoing.size(); ++i) {
        dlrt_status status{};
        expect_ok(
            dlrt_recv(incoming.data(), 200000, DLRT_BYTE, DLRT_ANY_SOURCE, 5, world_comm, &status)
        );
        check_status(status, world.previous, 5, outgoing[i].size());
        expect_bytes(incoming, outgoing[i].size(), i);
    }
    expect_ok(dlrt_waitall(static_cast<std::int32_t>(requests.size()), requests.data(), nullptr));
}

/// Rank 0 takes one message of each rank, of any source and tag.
void wildcards(const World& world) {
    const int value = 1000 + world.rank;
    dlrt_request request{};
    expect_ok(dlrt_isend(&value, 1, DLRT_INT, 0, 200 + world.rank, world_comm, &request));
    if (world.rank == 0) {
        std::vector<bool> has_come(static_cast<std::size_t>(world.size));
        for (int i = 0; i < world.size; ++i) {
            int incoming = 0;
            dlrt_status status{};
            expect_ok(dlrt_recv(
                &incoming, 1, DLRT_INT, DLRT_ANY_SOURCE, DLRT_ANY_TAG, world_comm, &status
            ));
            expect_equal(incoming, 1000 + status.source);
            expect_equal(status.tag, 200 + status.source);
            expect(!has_come[static_cast<std::size_t>(status.source)], "one message each");
            has_come[static_cast<std::size_t>(status.source)] = true;
        }
    }
    expect_ok(dlrt_wait(&request, nullptr));
}

}  // namespace

int main() {
    const World world;
    nonblocking_ring(world);
    sendrecv_ring(world);
    blocking_chain(world);
    to_oneself(world);
    zero_bytes(world);
    nobody();
    open_line(world);
    too_long(world);
    order(world);
    barrier();
    wildcards(world);
}
