// SPDX-License-Identifier: Apache-2.0
/// Case E06: ranks that finalize while others still need them. Argument: which part;
/// finalize_test.py says what dlrun makes of each.
#include "tests/jobs/api/job.hpp"
#include "tests/jobs/cases/time_used.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;
constexpr std::size_t small_bytes = 64;
constexpr std::int64_t small_count = 64;
constexpr std::size_t large_bytes = 8 << 20;

void be_late(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void many_small(int rank) {
    constexpr std::uint64_t message_count = 5000;
    std::vector<unsigned char> bytes(small_bytes);
    if (rank != 0) be_late(1);
    for (std::uint64_t i = 0; i < message_count; ++i) {
        if (rank == 0) {
            fill_bytes(bytes, i);
            expect_ok(dlrt_send(bytes.data(), small_count, DLRT_BYTE, 1, 1, comm));
        } else {
            expect_ok(dlrt_recv(bytes.data(), small_count, DLRT_BYTE, 0, 1, comm, nullptr));
            expect_bytes(bytes, small_bytes, i);
        }
    }
    expect_ok(dlrt_finalize());
}

void one_large_freed(int rank) {
    std::vector<unsigned char> bytes(large_bytes);
    const auto count = static_cast<std::int64_t>(large_bytes);
    if (rank == 0) {
        fill_bytes(bytes);
        dlrt_request request{};
        expect_ok(dlrt_isend(bytes.data(), count, DLRT_BYTE, 1, 1, comm, &request));
        expect_ok(dlrt_request_free(&request));
    } else {
        be_late(1);
        expect_ok(dlrt_recv(bytes.data(), count, DLRT_BYTE, 0, 1, comm, nullptr));
        expect_bytes(bytes, large_bytes);
    }
    expect_ok(dlrt_finalize());
}

/// The others sleep in finalize until the last one comes.
void one_late(int rank, int size) {
    constexpr double late_s = 3;
    barrier();
    if (rank == size - 1) {
        be_late(late_s);
        expect_ok(dlrt_finalize());
        return;
    }
    const double begin = seconds_now(), cpu_begin = cpu_seconds();
    expect_ok(dlrt_finalize());
    const double waited_s = seconds_now() - begin, cpu_s = cpu_seconds() - cpu_begin;
    expect(waited_s > late_s * 0.9, "finalize waits for all");
    expect(cpu_s < waited_s / 10, "less than 10 % of the time on a cpu");
}

void unmatched(int rank) {
    const std::vector<unsigned char> bytes(small_bytes);
    if (rank == 0) expect_ok(dlrt_send(bytes.data(), small_count, DLRT_BYTE, 1, 1, comm));
    expect_ok(dlrt_finalize());
}

void at_exit() {
    expect_ok(dlrt_finalize());
    expect_error(dlrt_finalize(), DLRT_ERR_NOT_INITIALIZED);
}

/// What the last failure says has this in it.
void expect_text(const char* part) {
    expect(std::strstr(dlrt_last_error(), part) != nullptr, part);
}

/// Rank 0 has left without a word; who waits for it is told.
void never_but_awaited(int rank, const std::string& ending) {
    if (rank == 0) std::exit(0);
    int value = 0;
    expect_error(dlrt_recv(&value, 1, DLRT_INT, 0, 1, comm, nullptr), DLRT_ERR_PEER_LOST);
    expect_text("world rank 0");
    std::array<dlrt_request, 2> requests{};
    std::array<dlrt_status, 2> statuses{};
    expect_ok(dlrt_irecv(&value, 1, DLRT_INT, rank, 1, comm, &requests[0]));
    expect_ok(dlrt_irecv(&value, 1, DLRT_INT, 0, 1, comm, &requests[1]));
    expect_ok(dlrt_send(&rank, 1, DLRT_INT, rank, 1, comm));
    expect_error(dlrt_waitall(2, requests.data(), statuses.data()), DLRT_ERR_IN_STATUS);
    expect_text("dlrt_waitall: receive from world rank 0");
    expect_text("(request 1; 1 failed)");
    expect_equal(statuses[0].error, DLRT_OK);
    expect_equal(statuses[1].error, DLRT_ERR_PEER_LOST);
    if (ending == "aborts") dlrt_abort(7, "nobody answers");
    std::exit(ending == "fails" ? 3 : 0);
}

/// All others have left; nobody can send any more.
void never_but_any_awaited(int rank, int size) {
    if (rank != size - 1) std::exit(0);
    int value = 0;
    expect_error(
        dlrt_recv(&value, 1, DLRT_INT, DLRT_ANY_SOURCE, 7, comm, nullptr), DLRT_ERR_PEER_LOST
    );
    expect_text("dlrt_recv: receive from any rank, tag 7: all others have ended");
    std::exit(0);
}

/// The same for who never sleeps.
void never_but_polled_for(int rank) {
    if (rank == 0) std::exit(0);
    int value = 0, is_there = 0;
    dlrt_err outcome = DLRT_OK;
    while (outcome == DLRT_OK && is_there == 0) {
        outcome = dlrt_iprobe(0, 1, comm, &is_there, nullptr);
    }
    expect_error(outcome, DLRT_ERR_PEER_LOST);
    dlrt_request request{};
    expect_ok(dlrt_irecv(&value, 1, DLRT_INT, 0, 1, comm, &request));
    is_there = 0;
    outcome = DLRT_OK;
    while (outcome == DLRT_OK && is_there == 0) {
        outcome = dlrt_test(&request, &is_there, nullptr);
    }
    expect_error(outcome, DLRT_ERR_PEER_LOST);
    std::exit(0);
}

/// Rank 0 leaves without finalizing while the others wait for it in finalize.
void never_but_awaited_in_finalize(int rank, int size) {
    if (rank == 0) std::exit(0);
    expect_error(dlrt_finalize(), DLRT_ERR_PEER_LOST);
    expect_text("barrier: rank ");
    expect_text("has ended without finalizing");
    if (size == 2) expect_text("(world rank 0)");
    std::exit(1);
}

void threads_inside(int rank) {
    int incoming = 0;
    std::thread receiver([&] {
        expect_ok(dlrt_recv(&incoming, 1, DLRT_INT, rank, 1, comm, nullptr));
    });
    // The receiver must be inside, which nothing that it could tell us proves.
    be_late(0.3);
    expect_error(dlrt_finalize(), DLRT_ERR_THREAD);
    const int outgoing = 41;
    expect_ok(dlrt_send(&outgoing, 1, DLRT_INT, rank, 1, comm));
    receiver.join();
    expect_equal(incoming, 41);
    expect_ok(dlrt_finalize());
}

}  // namespace

int main(int argc, char** argv) {
    const std::string part = argc > 1 ? argv[1] : "";
    const std::string awaited = "never_but_awaited_and_";
    std::int32_t rank = -1, size = 0;
    const auto level = part == "threads_inside" ? DLRT_THREAD_MULTIPLE : DLRT_THREAD_SINGLE;
    expect_ok(dlrt_init_thread(level, nullptr));
    expect_ok(dlrt_comm_rank(comm, &rank));
    expect_ok(dlrt_comm_size(comm, &size));
    rank_of_world = rank;
    if (part == "many_small") many_small(rank);
    if (part == "one_large_freed") one_large_freed(rank);
    if (part == "one_late") one_late(rank, size);
    if (part == "unmatched") unmatched(rank);
    if (part == "at_exit") std::atexit(at_exit);
    if (part.starts_with(awaited)) never_but_awaited(rank, part.substr(awaited.size()));
    if (part == "never_but_any_awaited") never_but_any_awaited(rank, size);
    if (part == "never_but_polled_for") never_but_polled_for(rank);
    if (part == "never_but_awaited_in_finalize") never_but_awaited_in_finalize(rank, size);
    if (part == "threads_inside") threads_inside(rank);
}
