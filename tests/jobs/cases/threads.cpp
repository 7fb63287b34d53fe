// SPDX-License-Identifier: Apache-2.0
/// Case B07: four threads of each rank exchange messages with the neighbours at once, and one
/// thread blocks in a receive while another does collectives. Argument: number of rounds.
#include "tests/jobs/api/job.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

using namespace job;

namespace {

constexpr std::uint32_t thread_count = 4;
constexpr std::uint32_t message_count = 256;
/// In elements of four bytes: 4 B, 32 KiB, 128 KiB.
constexpr std::array<std::size_t, 3> sizes{1, 8192, 32768};

std::size_t size_of(std::uint32_t round, std::uint32_t index) {
    return sizes[(round + index) % sizes.size()];
}

std::uint32_t value_of(std::uint32_t round, std::uint32_t index, std::uint32_t thread) {
    return round << 10 | thread << 8 | index;
}

using Requests = std::vector<dlrt_request>;
constexpr std::int32_t request_count = 2 * message_count;

void complete_by_all(Requests& requests) {
    expect_ok(dlrt_waitall(request_count, requests.data(), nullptr));
}

void complete_by_some(Requests& requests) {
    std::vector<std::int32_t> indices(request_count);
    for (std::int32_t done = 0; done < request_count;) {
        std::int32_t count = 0;
        expect_ok(dlrt_testsome(request_count, requests.data(), &count, indices.data(), nullptr));
        expect(count != DLRT_UNDEFINED, "some are open");
        done += count;
        if (count == 0) std::this_thread::yield();
    }
}

void complete_by_each(Requests& requests) {
    for (std::size_t open = requests.size(); open > 0;) {
        for (dlrt_request& request : requests) {
            if (request.index == 0) continue;
            int is_complete = 0;
            expect_ok(dlrt_test(&request, &is_complete, nullptr));
            if (is_complete != 0) --open;
        }
        std::this_thread::yield();
    }
}

/// What one thread keeps from round to round.
struct Lane {
    explicit Lane(std::uint32_t number) : thread(number) {
        for (std::uint32_t i = 0; i < message_count; ++i) {
            outgoing[i].resize(sizes.back());
            incoming[i].resize(sizes.back());
        }
    }

    std::uint32_t thread;
    std::array<std::vector<std::uint32_t>, message_count> outgoing;
    std::array<std::vector<std::uint32_t>, message_count> incoming;
};

void exchange(const World& world, Lane& lane, std::uint32_t round) {
    Requests requests(request_count);
    const auto tag = static_cast<std::int32_t>(lane.thread);
    for (std::uint32_t i = 0; i < message_count; ++i) {
        expect_ok(dlrt_irecv(
            lane.incoming[i].data(), static_cast<std::int64_t>(size_of(round, i)), DLRT_UINT32,
            world.previous, tag, DLRT_COMM_WORLD, &requests[i]
        ));
    }
    for (std::uint32_t i = 0; i < message_count; ++i) {
        const std::size_t size = size_of(round, i);
        std::fill_n(lane.outgoing[i].begin(), size, value_of(round, i, lane.thread));
        expect_ok(dlrt_isend(
            lane.outgoing[i].data(), static_cast<std::int64_t>(size), DLRT_UINT32, world.next, tag,
            DLRT_COMM_WORLD, &requests[message_count + i]
        ));
    }
    constexpr std::array completions{complete_by_all, complete_by_some, complete_by_each};
    completions[(round + lane.thread) % completions.size()](requests);
    for (std::uint32_t i = 0; i < message_count; ++i) {
        const auto begin = lane.incoming[i].begin();
        const auto end = begin + static_cast<std::ptrdiff_t>(size_of(round, i));
        const std::uint32_t right = value_of(round, i, lane.thread);
        const bool is_right = std::all_of(begin, end, [&](auto word) { return word == right; });
        expect(is_right, "the body is of this round, index and thread");
    }
}

void all_threads_exchange(const World& world, std::uint32_t round_count) {
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < thread_count; ++thread) {
        threads.emplace_back([&world, thread, round_count] {
            Lane lane(thread);
            for (std::uint32_t round = 0; round < round_count; ++round) {
                exchange(world, lane, round);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

/// A blocking receive that nobody serves until the collectives of the other thread are done.
void receive_beside_collectives(const World& world, int round) {
    constexpr int collective_count = 50;
    constexpr std::int32_t tag = 99;
    dlrt_comm copy{};
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &copy));
    int incoming = -1;
    std::thread receiver([&] {
        expect_ok(dlrt_recv(&incoming, 1, DLRT_INT, world.previous, tag, DLRT_COMM_WORLD, nullptr));
    });
    for (int i = 0; i < collective_count; ++i) {
        const int part = world.rank + i;
        int total = 0;
        expect_ok(dlrt_allreduce(&part, &total, 1, DLRT_INT, DLRT_SUM, copy));
        expect_equal(total, world.size * (world.size - 1) / 2 + world.size * i);
        expect_ok(dlrt_barrier(copy));
    }
    const int outgoing = round * 100 + world.rank;
    expect_ok(dlrt_send(&outgoing, 1, DLRT_INT, world.next, tag, DLRT_COMM_WORLD));
    receiver.join();
    expect_equal(incoming, round * 100 + world.previous);
    expect_ok(dlrt_comm_free(&copy));
}

}  // namespace

int main(int argc, char** argv) {
    const int round_count = argc > 1 ? std::atoi(argv[1]) : 200;
    const World world(DLRT_THREAD_MULTIPLE);
    all_threads_exchange(world, static_cast<std::uint32_t>(round_count));
    constexpr int receive_rounds = 3;
    for (int round = 0; round < receive_rounds; ++round) receive_beside_collectives(world, round);
}
