// SPDX-License-Identifier: Apache-2.0
/// All ways to complete requests, several at once, some failing, persistent ones; np >= 2.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstring>
#include <set>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;
constexpr int count = 10;

/// Ten receives from the previous rank, with tags 0..9.
struct Receives {
    std::array<int, count> values{};
    std::array<dlrt_request, count> requests{};

    explicit Receives(const World& world) {
        values.fill(-1);
        for (int i = 0; i < count; ++i) {
            expect_ok(dlrt_irecv(
                &values[static_cast<std::size_t>(i)], 1, DLRT_INT, world.previous, i, comm,
                &requests[static_cast<std::size_t>(i)]
            ));
        }
    }
    void check(const World& world) const {
        for (int i = 0; i < count; ++i) {
            expect_equal(values[static_cast<std::size_t>(i)], 100 * world.previous + i);
            expect_equal(requests[static_cast<std::size_t>(i)].index, 0u);
        }
    }
};

void send_all(const World& world) {
    for (int i = count - 1; i >= 0; --i) {
        const int value = 100 * world.rank + i;
        expect_ok(dlrt_send(&value, 1, DLRT_INT, world.next, i, comm));
    }
}

void check_one(const World& world, const dlrt_status& status, int index) {
    expect_equal(status.source, world.previous);
    expect_equal(status.tag, index);
    expect_equal(status.size_bytes, std::uint64_t{4});
}

void one_by_one(const World& world) {
    Receives receives(world);
    int is_complete = 1;
    expect_ok(dlrt_request_status(receives.requests[0], &is_complete, nullptr));
    barrier();
    send_all(world);
    for (int i = 0; i < count; ++i) {
        dlrt_request& request = receives.requests[static_cast<std::size_t>(i)];
        dlrt_status status{};
        if (i % 2 == 0) {
            expect_ok(dlrt_wait(&request, &status));
        } else {
            do {
                expect_ok(dlrt_test(&request, &is_complete, &status));
            } while (is_complete == 0);
        }
        check_one(world, status, i);
    }
    receives.check(world);
}

void any(const World& world) {
    for (const bool is_test : {false, true}) {
        Receives receives(world);
        barrier();
        send_all(world);
        std::set<int> indices;
        while (true) {
            int index = -7;
            int is_complete = 1;
            dlrt_status status{};
            if (is_test) {
                expect_ok(
                    dlrt_testany(count, receives.requests.data(), &index, &is_complete, &status)
                );
            } else {
                expect_ok(dlrt_waitany(count, receives.requests.data(), &index, &status));
            }
            if (is_complete == 0) {
                expect_equal<int>(index, DLRT_UNDEFINED);
                continue;
            }
            if (index == DLRT_UNDEFINED) {
                expect_equal<int>(status.source, DLRT_ANY_SOURCE);
                break;
            }
            check_one(world, status, index);
            expect(indices.insert(index).second, "each index once");
        }
        expect_equal(indices.size(), std::size_t{count});
        receives.check(world);
    }
}

void some(const World& world) {
    for (const bool is_test : {false, true}) {
        Receives receives(world);
        barrier();
        send_all(world);
        std::set<int> seen;
        while (true) {
            std::array<int, count> indices{};
            std::array<dlrt_status, count> statuses{};
            int completed = -7;
            auto* const complete = is_test ? dlrt_testsome : dlrt_waitsome;
            expect_ok(complete(
                count, receives.requests.data(), &completed, indices.data(), statuses.data()
            ));
            if (completed == DLRT_UNDEFINED) break;
            expect(is_test || completed > 0, "waitsome completes at least one");
            for (std::size_t i = 0; i < static_cast<std::size_t>(completed); ++i) {
                check_one(world, statuses[i], indices[i]);
                expect(seen.insert(indices[i]).second, "each index once");
            }
        }
        expect_equal(seen.size(), std::size_t{count});
        receives.check(world);
    }
}

void all(const World& world) {
    for (const bool is_test : {false, true}) {
        Receives receives(world);
        std::array<dlrt_status, count> statuses{};
        int is_complete = 1;
        expect_ok(dlrt_testall(count, receives.requests.data(), &is_complete, statuses.data()));
        expect_equal(is_complete, 0);
        for (const dlrt_request request : receives.requests) expect(request.index != 0, "kept");
        barrier();
        send_all(world);
        is_complete = 0;
        while (is_test && is_complete == 0) {
            expect_ok(dlrt_testall(count, receives.requests.data(), &is_complete, statuses.data()));
        }
        if (!is_test) expect_ok(dlrt_waitall(count, receives.requests.data(), statuses.data()));
        for (int i = 0; i < count; ++i) check_one(world, statuses[static_cast<std::size_t>(i)], i);
        receives.check(world);
    }
}

void null_ones() {
    std::array<dlrt_request, 2> requests{DLRT_REQUEST_NULL, DLRT_REQUEST_NULL};
    std::array<dlrt_status, 2> statuses{};
    int index = 0;
    int is_complete = 0;
    expect_ok(dlrt_wait(requests.data(), statuses.data()));
    expect_equal<int>(statuses[0].source, DLRT_ANY_SOURCE);
    expect_ok(dlrt_waitany(2, requests.data(), &index, nullptr));
    expect_equal<int>(index, DLRT_UNDEFINED);
    expect_ok(dlrt_testany(2, requests.data(), &index, &is_complete, nullptr));
    expect_equal(is_complete, 1);
    expect_ok(dlrt_waitsome(2, requests.data(), &index, &is_complete, nullptr));
    expect_equal<int>(index, DLRT_UNDEFINED);
    expect_ok(dlrt_waitall(2, requests.data(), statuses.data()));
    expect_ok(dlrt_waitall(0, nullptr, nullptr));
    expect_ok(dlrt_testall(2, requests.data(), &is_complete, nullptr));
    expect_equal(is_complete, 1);
}

/// One of three receives gets a message that is too long.
void one_fails(const World& world) {
    std::array<int, 3> small{};
    std::array<dlrt_request, 3> requests{};
    std::array<dlrt_status, 3> statuses{};
    for (std::size_t i = 0; i < 3; ++i) {
        expect_ok(dlrt_irecv(
            &small[i], 1, DLRT_INT, world.previous, static_cast<int>(i), comm, &requests[i]
        ));
    }
    for (int i = 0; i < 3; ++i) {
        const std::array<int, 2> values{10 + i, 20};
        expect_ok(dlrt_send(values.data(), i == 1 ? 2 : 1, DLRT_INT, world.next, i, comm));
    }
    expect_error(dlrt_waitall(3, requests.data(), statuses.data()), DLRT_ERR_IN_STATUS);
    expect(statuses[0].error == DLRT_OK && statuses[2].error == DLRT_OK, "the others are fine");
    expect(statuses[1].error == DLRT_ERR_TRUNCATE, "the long one is truncated");
    expect(small == std::array{10, 11, 12}, "heads of the messages");
    for (const dlrt_request request : requests) expect_equal(request.index, 0u);
}

void persistent(const World& world) {
    int outgoing = 0;
    int incoming = 0;
    std::array<dlrt_request, 3> requests{};
    expect_ok(dlrt_recv_init(&incoming, 1, DLRT_INT, world.previous, 1, comm, &requests[0]));
    expect_ok(dlrt_send_init(&outgoing, 1, DLRT_INT, world.next, 1, comm, &requests[1]));
    expect_ok(dlrt_recv_init(&incoming, 1, DLRT_INT, DLRT_PROC_NULL, 1, comm, &requests[2]));
    const std::array<dlrt_request, 3> kept = requests;
    int index = 0;
    expect_ok(dlrt_waitany(3, requests.data(), &index, nullptr));
    expect_equal<int>(index, DLRT_UNDEFINED);
    for (int round = 0; round < 50; ++round) {
        outgoing = 1000 * round + world.rank;
        if (round % 2 == 0) {
            expect_ok(dlrt_startall(3, requests.data()));
        } else {
            for (const dlrt_request request : requests) expect_ok(dlrt_start(request));
        }
        expect_error(dlrt_start(requests[2]), DLRT_ERR_REQUEST);
        std::array<dlrt_status, 3> statuses{};
        expect_ok(dlrt_waitall(3, requests.data(), statuses.data()));
        expect_equal(incoming, 1000 * round + world.previous);
        expect_equal(statuses[0].source, world.previous);
        expect_equal<int>(statuses[2].source, DLRT_PROC_NULL);
        expect(std::memcmp(&kept, &requests, sizeof kept) == 0, "handles stay");
    }
    for (dlrt_request& request : requests) expect_ok(dlrt_request_free(&request));
    expect_error(dlrt_start(kept[0]), DLRT_ERR_REQUEST);
}

/// A request that is given up still sends; a stale handle is recognised.
void given_up(const World& world) {
    static int outgoing = 0;
    outgoing = 5 + world.rank;
    dlrt_request request{};
    expect_ok(dlrt_isend(&outgoing, 1, DLRT_INT, world.next, 2, comm, &request));
    dlrt_request stale = request;
    expect_ok(dlrt_request_free(&request));
    expect_equal(request.index, 0u);
    expect_error(dlrt_wait(&stale, nullptr), DLRT_ERR_REQUEST);
    int incoming = 0;
    expect_ok(dlrt_recv(&incoming, 1, DLRT_INT, world.previous, 2, comm, nullptr));
    expect_equal(incoming, 5 + world.previous);
}

}  // namespace

int main() {
    const World world;
    one_by_one(world);
    any(world);
    some(world);
    all(world);
    null_ones();
    one_fails(world);
    persistent(world);
    given_up(world);
}
