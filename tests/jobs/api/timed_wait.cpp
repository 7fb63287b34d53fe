// SPDX-License-Identifier: Apache-2.0
/// Waits with a limit: in time, too late, and what is said of who hasn't come; a rank that leaves
/// without meeting the others; a communicator that one rank gives up while another waits in it.
#include "tests/jobs/api/job.hpp"

#include <chrono>

using namespace job;

namespace {

/// Each rank leaves in its own way.
struct Place {
    std::int32_t rank = 0, size = 0, next = 0, previous = 0;
};

constexpr std::int64_t long_ms = 60'000;
constexpr std::int64_t short_ms = 200;

void expect_text(const std::string& part) {
    const std::string text = dlrt_last_error();
    expect(text.find(part) != std::string::npos, part.c_str());
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void refuses_what_is_wrong() {
    dlrt_request none = DLRT_REQUEST_NULL;
    std::int32_t index = 5;
    expect_error(dlrt_waitany_for(1, &none, -1, &index, nullptr), DLRT_ERR_ARG);
    expect_text("timeout_ms is -1, less than 0");
    expect_error(dlrt_waitany_for(1, &none, 1, nullptr, nullptr), DLRT_ERR_ARG);
    expect_equal(index, 5);
    expect_ok(dlrt_waitany_for(1, &none, 0, &index, nullptr));
    expect_equal<std::int32_t>(index, DLRT_UNDEFINED);
    expect_error(dlrt_leave(-3), DLRT_ERR_ARG);
}

void names_who_has_not_come(const Place& world) {
    dlrt_request request = DLRT_REQUEST_NULL;
    std::int32_t index = -7;
    if (world.rank == 0) {
        const auto begin = std::chrono::steady_clock::now();
        expect_ok(dlrt_ibarrier(DLRT_COMM_WORLD, &request));
        const dlrt_err outcome = dlrt_waitany_for(1, &request, short_ms, &index, nullptr);
        expect_error(outcome, DLRT_ERR_TIMEOUT);
        expect(seconds_since(begin) >= 0.2, "the time was waited for");
        expect_equal(index, -7);
        expect_text("dlrt_waitany_for: after 200 ms request 0 is not complete: nonblocking barrier"
        );
        expect_text(world.size == 2 ? "rank 1 has not called it" : "ranks 1, 2 have not called it");
        expect_error(dlrt_waitany_for(1, &request, 0, &index, nullptr), DLRT_ERR_TIMEOUT);
        for (std::int32_t peer = 1; peer < world.size; ++peer) {
            expect_ok(dlrt_send(nullptr, 0, DLRT_BYTE, peer, 1, DLRT_COMM_WORLD));
        }
    } else {
        expect_ok(dlrt_recv(nullptr, 0, DLRT_BYTE, 0, 1, DLRT_COMM_WORLD, nullptr));
        expect_ok(dlrt_ibarrier(DLRT_COMM_WORLD, &request));
    }
    expect_ok(dlrt_waitany_for(1, &request, long_ms, &index, nullptr));
    expect_equal(index, 0);
    expect_equal<std::uint32_t>(request.index, 0);
}

void names_a_message(const Place& world) {
    std::int32_t value = -1;
    std::int32_t index = -7;
    dlrt_status status;
    dlrt_request requests[2] = {DLRT_REQUEST_NULL, DLRT_REQUEST_NULL};
    expect_ok(dlrt_irecv(&value, 1, DLRT_INT32, world.previous, 3, DLRT_COMM_WORLD, &requests[1]));
    expect_error(dlrt_waitany_for(2, requests, 1, &index, &status), DLRT_ERR_TIMEOUT);
    expect_text("request 1 is not complete: receive from world rank");
    barrier();
    expect_ok(dlrt_send(&world.rank, 1, DLRT_INT32, world.next, 3, DLRT_COMM_WORLD));
    expect_ok(dlrt_waitany_for(2, requests, long_ms, &index, &status));
    expect_equal(index, 1);
    expect_equal(value, world.previous);
    expect_equal(status.source, world.previous);
    barrier();
}

void a_communicator_that_a_rank_gives_up(const Place& world) {
    dlrt_comm comm = DLRT_COMM_NULL;
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &comm));
    expect_ok(dlrt_barrier(comm));
    if (world.rank == 1) {
        expect_ok(dlrt_comm_free(&comm));
    } else {
        const auto begin = std::chrono::steady_clock::now();
        expect_error(dlrt_barrier(comm), DLRT_ERR_MISMATCH);
        expect(seconds_since(begin) < 10, "noticed soon");
        expect_ok(dlrt_comm_free(&comm));
    }
    barrier();
}

/// Rank 1 leaves; what it has sent arrives, and who waits for more is told.
void leaves(const Place& world) {
    std::vector<unsigned char> bytes(1 << 20);
    if (world.rank == 1) {
        fill_bytes(bytes);
        dlrt_request request = DLRT_REQUEST_NULL;
        expect_ok(dlrt_isend(
            bytes.data(), static_cast<std::int64_t>(bytes.size()), DLRT_BYTE, 0, 6, DLRT_COMM_WORLD,
            &request
        ));
        expect_ok(dlrt_request_free(&request));
        expect_ok(dlrt_leave(long_ms));
        expect_equal(dlrt_initialized(), 0);
        expect_error(dlrt_leave(0), DLRT_ERR_NOT_INITIALIZED);
        return;
    }
    if (world.rank == 0) {
        expect_ok(dlrt_recv(
            bytes.data(), static_cast<std::int64_t>(bytes.size()), DLRT_BYTE, 1, 6, DLRT_COMM_WORLD,
            nullptr
        ));
        expect_bytes(bytes, bytes.size());
    }
    dlrt_request request = DLRT_REQUEST_NULL;
    std::int32_t index = -1;
    expect_ok(dlrt_irecv(nullptr, 0, DLRT_BYTE, 1, 7, DLRT_COMM_WORLD, &request));
    expect_error(dlrt_waitany_for(1, &request, long_ms, &index, nullptr), DLRT_ERR_PEER_LOST);
    expect_equal(index, 0);
    // Nobody is there to be met.
    expect_ok(dlrt_leave(0));
}

}  // namespace

int main(int argc, char** argv) {
    const bool has_threads = argc > 1 && std::string(argv[1]) == "threads";
    const auto threads = static_cast<dlrt_thread_level>(
        DLRT_THREAD_MULTIPLE | (has_threads ? DLRT_THREAD_PROGRESS : 0)
    );
    expect_ok(dlrt_init_thread(has_threads ? threads : DLRT_THREAD_SINGLE, nullptr));
    Place world;
    expect_ok(dlrt_comm_rank(DLRT_COMM_WORLD, &world.rank));
    expect_ok(dlrt_comm_size(DLRT_COMM_WORLD, &world.size));
    rank_of_world = world.rank;
    world.next = (world.rank + 1) % world.size;
    world.previous = (world.rank + world.size - 1) % world.size;
    refuses_what_is_wrong();
    names_who_has_not_come(world);
    names_a_message(world);
    a_communicator_that_a_rank_gives_up(world);
    leaves(world);
}
