// SPDX-License-Identifier: Apache-2.0
/// Case C10: collectives of several communicators at the same time: by two threads on three pairs
/// of ranks, by as many threads as there are duplicates of the world, nonblocking ones begun in
/// another order on each rank; and two threads on one communicator, which is refused. np 3 and 4;
/// the argument is the number of rounds.
#include "tests/jobs/api/job.hpp"

#include <atomic>
#include <thread>

using namespace job;

namespace {

constexpr std::size_t body_bytes = 100'000;

/// Rounds of sum, body and barrier on one communicator.
void exchange(dlrt_comm comm, const World& world, std::int32_t right_sum, int round_count) {
    std::vector<unsigned char> body(body_bytes);
    std::int32_t rank = 0;
    expect_ok(dlrt_comm_rank(comm, &rank));
    for (int round = 0; round < round_count; ++round) {
        std::int32_t sum = -1;
        expect_ok(dlrt_allreduce(&world.rank, &sum, 1, DLRT_INT32, DLRT_SUM, comm));
        expect_equal(sum, right_sum);
        const auto salt = static_cast<std::uint64_t>(round + right_sum);
        if (rank == 0) {
            fill_bytes(body, salt);
        } else {
            body.assign(body.size(), 0);
        }
        expect_ok(
            dlrt_bcast(body.data(), static_cast<std::int64_t>(body.size()), DLRT_BYTE, 0, comm)
        );
        expect_bytes(body, body.size(), salt);
        expect_ok(dlrt_barrier(comm));
    }
}

void pairs(const World& world, int round_count) {
    // {0, 1}, {1, 2} and {0, 2}: each rank is in two of them.
    std::vector<std::thread> threads;
    std::vector<dlrt_comm> comms;
    std::vector<std::int32_t> sums;
    for (int left_out = 0; left_out < 3; ++left_out) {
        const bool is_in = world.rank < 3 && world.rank != left_out;
        dlrt_comm comm{};
        expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, is_in ? 0 : DLRT_UNDEFINED, 0, &comm));
        if (!is_in) continue;
        comms.push_back(comm);
        sums.push_back(3 - left_out);
    }
    for (std::size_t i = 0; i < comms.size(); ++i) {
        threads.emplace_back([&, i] { exchange(comms[i], world, sums[i], round_count); });
    }
    for (std::thread& thread : threads) thread.join();
    for (dlrt_comm& comm : comms) expect_ok(dlrt_comm_free(&comm));
}

std::vector<dlrt_comm> duplicates() {
    std::vector<dlrt_comm> comms(8);
    for (dlrt_comm& comm : comms) expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &comm));
    return comms;
}

void many_threads(const World& world, std::vector<dlrt_comm>& comms, int round_count) {
    const std::int32_t sum = world.size * (world.size - 1) / 2;
    std::vector<std::thread> threads;
    for (const dlrt_comm comm : comms) {
        threads.emplace_back([&world, comm, sum, round_count] {
            exchange(comm, world, sum, round_count);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

void other_orders(const World& world, const std::vector<dlrt_comm>& comms, int round_count) {
    for (int round = 0; round < round_count; ++round) {
        std::vector<std::int32_t> mine(comms.size()), sums(comms.size());
        std::vector<dlrt_request> requests(comms.size());
        for (std::size_t turn = 0; turn < comms.size(); ++turn) {
            const std::size_t i = (turn * 3 + static_cast<std::size_t>(world.rank)) % comms.size();
            mine[i] = world.rank * static_cast<std::int32_t>(i + 1);
            expect_ok(
                dlrt_iallreduce(&mine[i], &sums[i], 1, DLRT_INT32, DLRT_SUM, comms[i], &requests[i])
            );
        }
        expect_ok(dlrt_waitall(static_cast<std::int32_t>(requests.size()), requests.data(), nullptr)
        );
        for (std::size_t i = 0; i < comms.size(); ++i) {
            const std::int32_t ranks = world.size * (world.size - 1) / 2;
            expect_equal(sums[i], ranks * static_cast<std::int32_t>(i + 1));
        }
    }
}

/// One thread of rank 0 waits in a barrier, which the others only enter once another one was
/// refused.
void two_threads_on_one(const World& world, dlrt_comm comm) {
    const std::int32_t ready = 1;
    std::int32_t seen = 0;
    if (world.rank != 0) {
        expect_ok(dlrt_recv(&seen, 1, DLRT_INT32, 0, 3, DLRT_COMM_WORLD, nullptr));
        expect_ok(dlrt_barrier(comm));
        return;
    }
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            const dlrt_err outcome = dlrt_barrier(comm);
            if (outcome == DLRT_OK) return;
            expect_error(outcome, DLRT_ERR_THREAD);
            const std::string text = dlrt_last_error();
            expect(
                text.find("another thread is in barrier of the same communicator") !=
                    std::string::npos,
                "says which call"
            );
            refused.fetch_add(1, std::memory_order_relaxed);
            for (int rank = 1; rank < world.size; ++rank) {
                expect_ok(dlrt_send(&ready, 1, DLRT_INT32, rank, 3, DLRT_COMM_WORLD));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    expect_equal(refused.load(std::memory_order_relaxed), 1);
}

}  // namespace

int main(int argument_count, char** arguments) {
    const World world(DLRT_THREAD_MULTIPLE);
    const int round_count = argument_count == 2 ? std::stoi(arguments[1]) : 10;
    pairs(world, round_count);
    std::vector<dlrt_comm> comms = duplicates();
    many_threads(world, comms, round_count / 4 + 1);
    other_orders(world, comms, round_count);
    two_threads_on_one(world, comms[0]);
    for (dlrt_comm& comm : comms) expect_ok(dlrt_comm_free(&comm));
}
