// SPDX-License-Identifier: Apache-2.0
/// Case F01: more ranks than cores. Barriers and reductions stay quick, and who waits in a receive
/// for long sleeps. The limits are ten times the case's: machines that run tests are busy.
#include "tests/jobs/api/job.hpp"
#include "tests/jobs/cases/time_used.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace job;

namespace {

/// The best of three means over 300 barriers.
double barrier_s() {
    constexpr int warm_up = 10, round_count = 3, barrier_count = 300;
    for (int i = 0; i < warm_up; ++i) barrier();
    double best_s = 1e9;
    for (int round = 0; round < round_count; ++round) {
        const double begin = seconds_now();
        for (int i = 0; i < barrier_count; ++i) barrier();
        best_s = std::min(best_s, (seconds_now() - begin) / barrier_count);
    }
    return best_s;
}

double barrier_limit_s(int size) {
    if (size <= 4) return 2e-3;
    return size <= 8 ? 10e-3 : 30e-3;
}

void reductions(const World& world) {
    constexpr int count = 100;
    for (const std::size_t size : {std::size_t{1}, std::size_t{1} << 10, std::size_t{1} << 17}) {
        std::vector<double> mine(size), all(size);
        for (int i = 0; i < count; ++i) {
            std::fill(mine.begin(), mine.end(), world.rank + i);
            expect_ok(dlrt_allreduce(
                mine.data(), all.data(), static_cast<std::int64_t>(size), DLRT_DOUBLE, DLRT_SUM,
                DLRT_COMM_WORLD
            ));
            const double right = world.size * (world.size - 1) / 2.0 + world.size * i;
            expect(std::ranges::count(all, right) == std::ssize(all), "the sum");
        }
    }
}

void long_receive(const World& world) {
    constexpr std::chrono::seconds pause(2);
    int value = 0;
    barrier();
    if (world.rank == 0) {
        std::this_thread::sleep_for(pause);
        for (int rank = 1; rank < world.size; ++rank) {
            expect_ok(dlrt_send(&value, 1, DLRT_INT, rank, 1, DLRT_COMM_WORLD));
        }
        return;
    }
    const double begin = cpu_seconds();
    expect_ok(dlrt_recv(&value, 1, DLRT_INT, 0, 1, DLRT_COMM_WORLD, nullptr));
    const double used_s = cpu_seconds() - begin;
    expect(used_s < 0.2, "a receive of 2 s uses less than 10 % of a cpu");
}

}  // namespace

int main() {
    const World world;
    const double took_s = barrier_s();
    if (took_s > barrier_limit_s(world.size)) {
        std::fprintf(stderr, "a barrier takes %g ms\n", took_s * 1e3);
        expect(false, "a barrier is quick");
    }
    if (world.size == 8) reductions(world);
    long_receive(world);
}
