// SPDX-License-Identifier: Apache-2.0
/// Case B07: several threads of each rank send and receive at once. Made to run under
/// ThreadSanitizer.
#include "tests/runtime/engine_cluster.hpp"

#include <array>
#include <cstring>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

constexpr int thread_count = 4;

struct Body {
    std::int32_t round, index, thread, rank;
};

std::vector<std::byte> body(const Body& fields, std::size_t size) {
    std::vector<std::byte> data(size);
    std::memcpy(data.data(), &fields, std::min(size, sizeof fields));
    return data;
}

enum class Completion : std::uint8_t { wait_all, wait_each, test_each, wait_any };

void complete(Engine& engine, const std::vector<Request*>& requests, Completion how) {
    switch (how) {
        case Completion::wait_all:
            engine.wait_all(requests);
            return;
        case Completion::wait_each:
            for (Request* request : requests) engine.wait(request);
            return;
        case Completion::test_each:
            for (Request* request : requests) {
                while (!engine.test(request)) std::this_thread::yield();
            }
            return;
        case Completion::wait_any:
            break;
    }
    std::size_t left = requests.size();
    std::vector<bool> is_taken(requests.size());
    while (left != 0) {
        engine.wait_any(requests);
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (is_taken[i] || !is_complete(*requests[i])) continue;
            DLRT_DEMAND(engine.test(requests[i]));
            is_taken[i] = true;
            --left;
        }
    }
}

/// What one thread does in one round: a window of receives and sends with its namesake on the other
/// side.
void exchange_window(Engine& engine, WorldRank rank, int thread, int round) {
    constexpr std::size_t window = 24;
    constexpr std::array<std::size_t, 3> sizes = {16, 32 * 1024, 128 * 1024};
    const std::size_t size = sizes[static_cast<std::size_t>(round) % sizes.size()];
    const Route other{test_context, 1 - rank, thread};
    std::vector<std::vector<std::byte>> got(window, std::vector<std::byte>(size)), sent;
    std::vector<Request*> requests;
    for (std::size_t i = 0; i < window; ++i) {
        requests.push_back(engine.irecv(other, bytes_to_fill(got[i])));
    }
    for (std::size_t i = 0; i < window; ++i) {
        sent.push_back(body({round, static_cast<std::int32_t>(i), thread, rank}, size));
        requests.push_back(engine.isend(SendMode::standard, other, bytes_to_send(sent[i])));
    }
    complete(engine, requests, static_cast<Completion>((round + thread) % 4));
    for (std::size_t i = 0; i < window; ++i) {
        const Body expected{round, static_cast<std::int32_t>(i), thread, 1 - rank};
        DLRT_DEMAND(got[i] == body(expected, size));
    }
    for (Request* request : requests) engine.release(request);
}

Wiring many_threads(Wiring wiring) {
    wiring.thread_mode = ThreadMode::multiple;
    return wiring;
}

/// Runs the body on several threads of every rank.
void run_threads(Cluster& cluster, const std::function<void(WorldRank, Engine&, int)>& work) {
    cluster.run([&](WorldRank rank, Engine& engine) {
        std::vector<std::thread> threads;
        std::array<std::string, thread_count> errors;
        for (int thread = 0; thread < thread_count; ++thread) {
            threads.emplace_back([&, thread] {
                try {
                    work(rank, engine, thread);
                } catch (const std::exception& error) {
                    errors[static_cast<std::size_t>(thread)] = error.what();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        for (const std::string& error : errors) demand(error.empty(), error.c_str());
    });
}

}  // namespace

TEST_CASE("engine threads: windows of every size, completed in every way", "[runtime]") {
    const bool spins = GENERATE(false, true);
    for (Wiring wiring : {many_threads(Wiring{}), many_threads(over_fake(21))}) {
        wiring.budget.spin_rounds = spins ? 200 : 0;
        Cluster cluster(2, wiring);
        run_threads(cluster, [](WorldRank rank, Engine& engine, int thread) {
            for (int round = 0; round < 6; ++round) exchange_window(engine, rank, thread, round);
        });
    }
}

TEST_CASE("engine threads: blocking ping-pong of each pair of threads", "[runtime]") {
    for (const Wiring& wiring : {many_threads(Wiring{}), many_threads(over_fake(22))}) {
        Cluster cluster(2, wiring);
        run_threads(cluster, [](WorldRank rank, Engine& engine, int thread) {
            std::vector<std::byte> data(8);
            MessageStatus status;
            const Route other{test_context, 1 - rank, thread};
            for (int round = 0; round < 150; ++round) {
                const auto sent = body({round, 0, thread, rank}, 16);
                std::vector<std::byte> got(16);
                if (rank == 0) {
                    DLRT_DEMAND(engine.send(SendMode::standard, other, bytes_to_send(sent)).ok());
                    DLRT_DEMAND(engine.recv(other, bytes_to_fill(got), status).ok());
                } else {
                    DLRT_DEMAND(engine.recv(other, bytes_to_fill(got), status).ok());
                    DLRT_DEMAND(engine.send(SendMode::standard, other, bytes_to_send(sent)).ok());
                }
                DLRT_DEMAND(got == body({round, 0, thread, 1 - rank}, 16));
            }
        });
    }
}

TEST_CASE(
    "engine threads: one waits in a receive that another thread's call fulfils", "[runtime]"
) {
    Cluster cluster(1, many_threads(Wiring{}));
    Engine& engine = cluster.engine(0);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::byte> got(16), late(16);
        std::thread receiver([&] {
            MessageStatus status;
            demand(engine.recv({test_context, 0, 1}, bytes_to_fill(got), status).ok(), "recv");
        });
        std::thread second([&] {
            MessageStatus status;
            demand(engine.recv({test_context, 0, 2}, bytes_to_fill(late), status).ok(), "recv");
        });
        const auto sent = body({round, 0, 0, 0}, 16);
        REQUIRE(engine.send(SendMode::standard, {test_context, 0, 2}, bytes_to_send(sent)).ok());
        REQUIRE(engine.send(SendMode::synchronous, {test_context, 0, 1}, bytes_to_send(sent)).ok());
        receiver.join();
        second.join();
        REQUIRE(got == sent);
        REQUIRE(late == sent);
    }
}

TEST_CASE("engine threads: a sleeping one gets what another sends to its own rank", "[runtime]") {
    Cluster cluster(1, many_threads(Wiring{}));
    Engine& engine = cluster.engine(0);
    const auto& sleeping = cluster.segment().doorbell(0).sleeping;
    for (int round = 0; round < 50; ++round) {
        std::vector<std::byte> got(16);
        std::thread receiver([&] {
            MessageStatus status;
            demand(engine.recv({test_context, 0, 1}, bytes_to_fill(got), status).ok(), "recv");
        });
        while (sleeping.load(std::memory_order_acquire) == 0) std::this_thread::yield();
        const auto sent = body({round, 0, 0, 0}, 16);
        REQUIRE(engine.send(SendMode::standard, {test_context, 0, 1}, bytes_to_send(sent)).ok());
        receiver.join();
        REQUIRE(got == sent);
    }
}

TEST_CASE("engine threads: a condition of the caller's is asked by its own thread", "[runtime]") {
    Cluster cluster(2, many_threads(Wiring{}));
    run_threads(cluster, [](WorldRank rank, Engine& engine, int thread) {
        const auto self = std::this_thread::get_id();
        for (int round = 0; round < 50; ++round) {
            const auto sent = body({round, 0, thread, rank}, 16);
            std::vector<std::byte> got(16);
            const Route other{test_context, 1 - rank, thread};
            Request* const receive = engine.irecv(other, bytes_to_fill(got));
            Request* send = nullptr;
            bool was_elsewhere = false;
            // It starts operations itself, as a schedule does.
            engine.wait_until([&] {
                was_elsewhere = was_elsewhere || std::this_thread::get_id() != self;
                if (send == nullptr) {
                    send = engine.isend(SendMode::standard, other, bytes_to_send(sent));
                }
                return is_complete(*receive) && is_complete(*send);
            });
            DLRT_DEMAND(!was_elsewhere);
            DLRT_DEMAND(got == body({round, 0, thread, 1 - rank}, 16));
            engine.release(receive);
            engine.release(send);
        }
    });
}

}  // namespace dlrt
