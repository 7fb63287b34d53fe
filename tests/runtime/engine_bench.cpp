// SPDX-License-Identifier: Apache-2.0
/// What the engine costs over shared memory, between two processes on two cores: half round trips,
/// message rate, windowed bandwidth, and calls that don't wait. Minima over rounds. Run by `meson
/// test --benchmark`.
#include "runtime/base/clock.hpp"
#include "tests/runtime/engine_cluster.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <string_view>
#include <sys/wait.h>

namespace dlrt {
namespace {

using namespace dlrt::testing;

constexpr std::size_t largest = 4u << 20;
constexpr std::size_t window = 64;

void bind_to_cpu(int number) {
    cpu_set_t all, one;
    ::sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &all) && number-- == 0) CPU_SET(cpu, &one);
    }
    if (CPU_COUNT(&one) != 0) ::sched_setaffinity(0, sizeof one, &one);
}

struct Bench {
    Engine& engine;
    WorldRank rank;
    std::vector<std::byte> out = std::vector<std::byte>(largest, std::byte{1});
    std::vector<std::byte> in = std::vector<std::byte>(largest, std::byte{2});

    [[nodiscard]] Route other() const { return {test_context, 1 - rank, 1}; }
    void send(std::size_t size) {
        const ConstBuffer buffer{out.data(), size, &Layout::of(ElementType::byte)};
        if (!engine.send(SendMode::standard, other(), buffer).ok()) std::abort();
    }
    void receive(std::size_t size) {
        MessageStatus status;
        const Buffer buffer{in.data(), size, &Layout::of(ElementType::byte)};
        if (!engine.recv(other(), buffer, status).ok()) std::abort();
    }
    void barrier() {
        if (rank == 0) send(1);
        receive(1);
        if (rank == 1) send(1);
    }

    /// Half round trip.
    double ping_pong_us(std::size_t size) {
        const int count = size <= 8192 ? 1000 : size <= 65536 ? 200 : 10;
        double best = 1e12;
        for (int round = 0; round < 40; ++round) {
            barrier();
            const std::uint64_t begin_ns = monotonic_ns();
            for (int i = 0; i < count; ++i) {
                if (rank == 0) send(size);
                receive(size);
                if (rank == 1) send(size);
            }
            best = std::min(best, static_cast<double>(monotonic_ns() - begin_ns));
        }
        return best / 2e3 / count;
    }

    /// Time per message of windows in one direction, each answered.
    double window_us(std::size_t size) {
        const int count = size <= 8192 ? 20 : 1;
        std::array<Request*, window> requests{};
        double best = 1e12;
        for (int round = 0; round < (size <= 65536 ? 60 : 12); ++round) {
            barrier();
            const std::uint64_t begin_ns = monotonic_ns();
            for (int i = 0; i < count; ++i) {
                for (Request*& request : requests) request = start_one(size);
                engine.wait_all(requests);
                for (Request* request : requests) engine.release(request);
                if (rank == 1) send(1);
                if (rank == 0) receive(1);
            }
            best = std::min(best, static_cast<double>(monotonic_ns() - begin_ns));
        }
        return best / 1e3 / count / window;
    }
    Request* start_one(std::size_t size) {
        const LayoutRef& bytes = Layout::of(ElementType::byte);
        if (rank == 0) return engine.isend(SendMode::standard, other(), {out.data(), size, &bytes});
        return engine.irecv(other(), {in.data(), size, &bytes});
    }

    double test_of_complete_ns() {
        Request* const request = start_one(1);
        if (rank == 1) engine.wait(request);
        while (!engine.test(request)) {}
        constexpr int count = 1'000'000;
        const std::uint64_t begin_ns = monotonic_ns();
        for (int i = 0; i < count; ++i) {
            if (!engine.test(request)) std::abort();
        }
        const auto elapsed = static_cast<double>(monotonic_ns() - begin_ns);
        engine.release(request);
        return elapsed / count;
    }

    /// Half round trip while the receives of both sides are behind so many others that never match.
    double behind_others_us(int others) {
        std::vector<Request*> idle;
        for (int i = 0; i < others; ++i) {
            const Route never{test_context, 1 - rank, 1000 + i};
            idle.push_back(engine.irecv(never, {in.data(), 8, &Layout::of(ElementType::byte)}));
        }
        const double cost = ping_pong_us(8);
        for (Request* request : idle) {
            static_cast<void>(engine.cancel(request));
            engine.release(request);
        }
        return cost;
    }
};

void run(Bench& bench, std::string_view only) {
    const bool is_loud = bench.rank == 0;
    const auto is_wanted = [&](std::string_view part) { return only.empty() || only == part; };
    if (is_wanted("latency")) {
        for (std::size_t size = 8; size <= largest; size *= 4) {
            const double us = bench.ping_pong_us(size);
            if (is_loud) std::printf("latency %8zu B  %9.3f us\n", size, us);
        }
    }
    if (is_wanted("window")) {
        for (std::size_t size = 1; size <= largest; size *= 4) {
            const double us = bench.window_us(size);
            const double rate = static_cast<double>(size) / us / 1e3;
            if (is_loud) std::printf("window  %8zu B  %9.3f us  %8.3f GB/s\n", size, us, rate);
        }
    }
    if (is_wanted("match")) {
        const double few = bench.behind_others_us(10), many = bench.behind_others_us(10'000);
        if (is_loud) std::printf("behind 10 / 10000 receives  %.3f / %.3f us\n", few, many);
    }
    if (is_wanted("test")) {
        const double ns = bench.test_of_complete_ns();
        if (is_loud) std::printf("test of a complete request  %.1f ns\n", ns);
    }
}

}  // namespace
}  // namespace dlrt

int main(int argc, char** argv) {
    using namespace dlrt;
    testing::Wiring wiring;
    wiring.budget = wait_budget({2, 2});
    // A busy machine must not make the figures those of sleeping.
    wiring.budget.spin_rounds = 10'000'000;
    wiring.is_one_process = false;
    testing::Cluster cluster(2, wiring);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const pid_t child = ::fork();
    const WorldRank rank = child == 0 ? 1 : 0;
    bind_to_cpu(rank);
    Bench bench{cluster.open(static_cast<std::uint32_t>(rank)), rank};
    run(bench, argc > 1 ? argv[1] : "");
    bench.barrier();
    if (child == 0) std::_Exit(0);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}
