// SPDX-License-Identifier: Apache-2.0
/// Waiting: the phases as values, what a sleeping rank costs, and what ends a wait that nobody can
/// fulfil.
#include "runtime/waiter.hpp"
#include "tests/runtime/engine_cluster.hpp"

#include <array>
#include <cstring>
#include <sched.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

struct Usage {
    double cpu_ms;
    long wakeups;
};

Usage usage_of_thread() {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    const auto ms = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return {ms(used.ru_utime) + ms(used.ru_stime), used.ru_nvcsw};
}

/// The first that this thread may use.
void stay_on_one_core() {
    cpu_set_t all, one;
    ::sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    ::sched_setaffinity(0, sizeof one, &one);
}

Route to(WorldRank peer, Tag tag) {
    return {test_context, peer, tag};
}

/// Over a transport that sleeps on descriptors of its own; every wait goes to the kernel at once.
Wiring on_descriptors(std::uint64_t seed) {
    Wiring wiring = over_fake(seed);
    wiring.fake->busy_percent = 0;
    wiring.fake->delay_polls_max = 0;
    wiring.has_sleep_descriptors = true;
    wiring.budget = {.spin_rounds = 0, .yield_rounds = 0, .shared_yield_ns = 0};
    return wiring;
}

/// Until that rank has announced that it sleeps on descriptors.
void await_sleep(Cluster& cluster, std::uint32_t rank) {
    const auto& sleeping = cluster.segment().doorbell(rank).sleeping;
    constexpr auto wanted = static_cast<std::uint32_t>(SleepKind::descriptor);
    while (sleeping.load(std::memory_order_acquire) != wanted) std::this_thread::yield();
}

}  // namespace

TEST_CASE("wait budget: a core of one's own is spun on, a shared one never", "[runtime]") {
    for (const std::uint32_t cpus : {1u, 2u, 8u}) {
        for (const std::uint32_t ranks : {1u, 2u, 8u, 9u, 100u}) {
            const WaitBudget budget = wait_budget({cpus, ranks});
            CHECK((budget.spin_rounds != 0) == (ranks <= cpus));
            CHECK(budget.is_core_shared == (ranks > cpus));
            CHECK((budget.lone_yield_ns != 0) == (ranks > cpus));
            // 128 ranks that each poll so long in two seconds use less than 2 % of a core.
            CHECK(budget.lone_yield_ns <= 300'000);
            CHECK(budget.yield_rounds >= 2);
            CHECK(budget.yield_rounds <= 20);
        }
    }
}

TEST_CASE("wait budget: a core that the rank's own threads may want is spun on for less") {
    CHECK(wait_budget({2, 2, true}).spin_rounds * 2 < wait_budget({2, 2, false}).spin_rounds);
    CHECK(wait_budget({1, 2, true}).spin_rounds == 0);
}

TEST_CASE("wait phase: spins, then yields, then sleeps until something happens", "[runtime]") {
    using Step = WaitPhase::Step;
    const WaitBudget budget{.spin_rounds = 2, .yield_rounds = 1, .shared_yield_ns = 0};
    WaitPhase phase(budget, Step::spin);
    for (int time = 0; time < 2; ++time) {
        CHECK(phase.next() == Step::spin);
        CHECK(phase.next() == Step::spin);
        CHECK(phase.next() == Step::yield);
        phase.yielded(1);
        CHECK(phase.next() == Step::sleep);
        CHECK(phase.next() == Step::sleep);
        phase.something_happened();
    }
    WaitPhase polite(budget, Step::yield);
    CHECK(polite.next() == Step::yield);
    polite.yielded(1);
    CHECK(polite.next() == Step::sleep);
    WaitPhase evicted(budget, Step::sleep);
    CHECK(evicted.next() == Step::sleep);
    evicted.something_happened();
    CHECK(evicted.next() == Step::sleep);
}

TEST_CASE(
    "wait phase: a yield that ran somebody costs a round, one that ran nobody its time", "[runtime]"
) {
    using Step = WaitPhase::Step;
    const WaitBudget budget{.yield_rounds = 2, .lone_yield_ns = 1000, .shared_yield_ns = 500};
    WaitPhase phase(budget, Step::yield);
    for (int time = 0; time < 2; ++time) {
        // 1000 - 500 - 400 = 100 ns are left when the third comes: that and the last cost rounds.
        for (const std::uint64_t taken_ns : {500u, 400u, 101u, 501u}) {
            CHECK(phase.next() == Step::yield);
            phase.yielded(taken_ns);
        }
        CHECK(phase.next() == Step::sleep);
        phase.something_happened();
    }
    for (const std::uint64_t taken_ns : {501u, 500u, 3'000'000u}) {
        CHECK(phase.next() == Step::yield);
        phase.yielded(taken_ns);
    }
    CHECK(phase.next() == Step::sleep);
}

TEST_CASE("wait: ranks blocked for a third of a second sleep", "[runtime]") {
    constexpr std::uint32_t size = 8;
    Wiring wiring;
    wiring.budget = wait_budget({1, 1});
    Cluster cluster(size, wiring);
    std::array<Usage, size> used{};
    cluster.run([&](WorldRank rank, Engine& engine) {
        std::vector<std::byte> data(8);
        MessageStatus status;
        if (rank == 0) {
            // Not to synchronise: this is the time that the others are to wait.
            std::this_thread::sleep_for(std::chrono::milliseconds(333));
            for (WorldRank other = 1; other < static_cast<WorldRank>(size); ++other) {
                DLRT_DEMAND(engine.send(SendMode::standard, to(other, 1), bytes_to_send(data)).ok()
                );
            }
            return;
        }
        const Usage before = usage_of_thread();
        // Half of them in a receive, half in a request, one in a probe.
        if (rank % 2 == 0) {
            DLRT_DEMAND(engine.recv(to(0, 1), bytes_to_fill(data), status).ok());
        } else if (rank == 1) {
            engine.probe({test_context, any_source, any_tag}, status);
        } else {
            Request* const receive = engine.irecv(to(any_source, 1), bytes_to_fill(data));
            engine.wait(receive);
            engine.release(receive);
        }
        const Usage after = usage_of_thread();
        used[static_cast<std::size_t>(rank)] = {
            after.cpu_ms - before.cpu_ms, after.wakeups - before.wakeups};
    });
    for (const Usage& one : used) {
        CHECK(one.cpu_ms < 30);
        CHECK(one.wakeups < 20);
    }
}

TEST_CASE("wait: two ranks on one core take turns quickly", "[runtime]") {
    Wiring wiring;
    wiring.budget = wait_budget({1, 2});
    Cluster cluster(2, wiring);
    double used_us = 0;
    cluster.run([&](WorldRank rank, Engine& engine) {
        stay_on_one_core();
        std::vector<std::byte> data(8);
        MessageStatus status;
        const Route other = to(1 - rank, 1);
        constexpr int rounds = 500;
        const Usage before = usage_of_thread();
        for (int round = 0; round < rounds; ++round) {
            if (rank == 1) DLRT_DEMAND(engine.recv(other, bytes_to_fill(data), status).ok());
            DLRT_DEMAND(engine.send(SendMode::standard, other, bytes_to_send(data)).ok());
            if (rank == 0) DLRT_DEMAND(engine.recv(other, bytes_to_fill(data), status).ok());
        }
        if (rank == 0) used_us = (usage_of_thread().cpu_ms - before.cpu_ms) * 1e3 / rounds;
    });
    // Who spins uses up its time slice, some 3 ms, before the other one can answer. Processor time
    // says that on a busy machine too; the figure for an idle one, 3 us one way, is measured
    // elsewhere.
    CHECK(used_us < 300);
}

TEST_CASE("polling: who shares his core lets others have it after two polls in vain", "[runtime]") {
    PollPace alone(false);
    for (int poll = 0; poll < 10; ++poll) CHECK_FALSE(alone.should_yield(0));
    PollPace sharing(true);
    for (std::uint64_t events = 5; events < 8; ++events) {
        CHECK_FALSE(sharing.should_yield(events));
        CHECK_FALSE(sharing.should_yield(events));
        CHECK(sharing.should_yield(events));
        CHECK(sharing.should_yield(events));
    }
}

TEST_CASE("polling: two ranks that only poll take turns on one core", "[runtime]") {
    enum class Way { test, probe, matched_probe };
    for (const Way way : {Way::test, Way::probe, Way::matched_probe}) {
        Wiring wiring;
        wiring.budget = wait_budget({1, 2});
        Cluster cluster(2, wiring);
        double used_us = 0;
        cluster.run([&](WorldRank rank, Engine& engine) {
            stay_on_one_core();
            std::vector<std::byte> data(8);
            MessageStatus status;
            const Route other = to(1 - rank, 1);
            const auto receive_by_polls = [&] {
                MatchedMessage* message = nullptr;
                Request* request = way == Way::test ? engine.irecv(other, bytes_to_fill(data))
                                                    : nullptr;
                if (way == Way::matched_probe) {
                    while (message == nullptr) message = engine.improbe(other, status);
                    request = engine.imrecv(message, bytes_to_fill(data));
                }
                if (way == Way::probe) {
                    while (!engine.iprobe(other, status)) {}
                    request = engine.irecv(other, bytes_to_fill(data));
                }
                while (!engine.test(request)) {}
                engine.release(request);
            };
            constexpr int rounds = 300;
            const Usage before = usage_of_thread();
            for (int round = 0; round < rounds; ++round) {
                if (rank == 1) receive_by_polls();
                DLRT_DEMAND(engine.send(SendMode::standard, other, bytes_to_send(data)).ok());
                if (rank == 0) receive_by_polls();
            }
            if (rank == 0) used_us = (usage_of_thread().cpu_ms - before.cpu_ms) * 1e3 / rounds;
        });
        // Who never yields uses up its time slice, some 3 ms, before the other one can answer.
        CHECK(used_us < 300);
    }
}

TEST_CASE("wait: what needs a departed rank fails and says so; the rest goes on", "[runtime]") {
    Cluster cluster(3, Wiring{});
    const auto sent = pattern(1, 16);
    REQUIRE(cluster.engine(1).send(SendMode::standard, to(0, 1), bytes_to_send(sent)).ok());
    cluster.run([&](WorldRank rank, Engine& engine) {
        std::vector<std::byte> data(16), other(16), large(1 << 20);
        MessageStatus status;
        if (rank == 1) return cluster.segment().mark_departed(1);
        if (rank == 2) {
            Request* const unlucky = engine.isend(
                SendMode::standard, to(1, 1), bytes_to_send(large)
            );
            engine.wait(unlucky);
            DLRT_DEMAND(status_of(*unlucky).error.code == Errc::peer_lost);
            engine.release(unlucky);
            DLRT_DEMAND(engine.send(SendMode::standard, to(0, 1), bytes_to_send(data)).ok());
            return;
        }
        Request* const unlucky = engine.irecv(to(1, 2), bytes_to_fill(other));
        engine.wait(unlucky);
        DLRT_DEMAND(status_of(*unlucky).error.code == Errc::peer_lost);
        DLRT_DEMAND(outcome_of(*unlucky).code == Errc::peer_lost);
        DLRT_DEMAND(last_error_text().find("world rank 1") != std::string::npos);
        engine.release(unlucky);
        // What it had sent before is still good, and then no more comes.
        DLRT_DEMAND(engine.recv(to(1, 1), bytes_to_fill(data), status).ok());
        DLRT_DEMAND(data == sent);
        DLRT_DEMAND(engine.recv(to(1, 1), bytes_to_fill(data), status).code == Errc::peer_lost);
        engine.probe(to(1, any_tag), status);
        DLRT_DEMAND(status.error.code == Errc::peer_lost);
        DLRT_DEMAND(engine.mprobe(to(1, any_tag), status) == nullptr);
        DLRT_DEMAND(engine.recv(to(2, 1), bytes_to_fill(data), status).ok());
    });
    for (const std::uint32_t rank : {0u, 2u}) {
        CHECK(cluster.segment().life(rank).missed_rank.load(std::memory_order_relaxed) == 1 + 1);
    }
}

TEST_CASE("wait: who waits for anybody when all others have gone is told", "[runtime]") {
    Cluster cluster(3, Wiring{});
    cluster.run([&](WorldRank rank, Engine& engine) {
        if (rank != 0) return cluster.segment().mark_departed(static_cast<std::uint32_t>(rank));
        const auto sent = pattern(1, 16);
        std::vector<std::byte> first(16), second(16);
        MessageStatus status;
        Request* const from_lost = engine.irecv(to(2, 1), bytes_to_fill(second));
        Request* const from_any = engine.irecv(to(any_source, 1), bytes_to_fill(first));
        engine.wait(from_lost);
        DLRT_DEMAND(outcome_of(*from_lost).code == Errc::peer_lost);
        engine.release(from_lost);
        // It isn't without hope before its thread waits for it.
        DLRT_DEMAND(!engine.test(from_any));
        DLRT_DEMAND(engine.send(SendMode::standard, to(0, 1), bytes_to_send(sent)).ok());
        engine.wait(from_any);
        DLRT_DEMAND(outcome_of(*from_any).ok() && first == sent);
        engine.release(from_any);
        Request* const hopeless = engine.irecv(to(any_source, 7), bytes_to_fill(first));
        engine.wait(hopeless);
        DLRT_DEMAND(outcome_of(*hopeless).code == Errc::peer_lost);
        const std::string
            expected = "receive from any rank, tag 7: all others have ended without finalizing";
        DLRT_DEMAND(last_error_text() == expected);
        engine.release(hopeless);
        engine.probe(to(any_source, 7), status);
        DLRT_DEMAND(status.error.code == Errc::peer_lost);
    });
    CHECK(cluster.segment().life(0).missed_rank.load(std::memory_order_relaxed) != 0);
}

TEST_CASE("polling: who never waits sees departures and aborts too", "[runtime]") {
    const Errc expected = GENERATE(Errc::peer_lost, Errc::aborted);
    Cluster cluster(2, Wiring{});
    cluster.run([&](WorldRank rank, Engine& engine) {
        if (rank == 1 && expected == Errc::peer_lost) return cluster.segment().mark_departed(1);
        if (rank == 1) {
            static_cast<void>(cluster.segment().raise_abort(3, 1, "test"));
            return;
        }
        std::vector<std::byte> data(16);
        MessageStatus status;
        Request* const unlucky = engine.irecv(to(1, 2), bytes_to_fill(data));
        while (!engine.test(unlucky)) std::this_thread::yield();
        DLRT_DEMAND(status_of(*unlucky).error.code == expected);
        engine.release(unlucky);
        while (!engine.iprobe(to(1, any_tag), status)) std::this_thread::yield();
        DLRT_DEMAND(status.error.code == expected);
        while (engine.improbe(to(1, any_tag), status) == nullptr && status.error.ok()) {
            std::this_thread::yield();
        }
        DLRT_DEMAND(status.error.code == expected);
    });
}

TEST_CASE("wait: an abort ends every wait", "[runtime]") {
    Cluster cluster(2, Wiring{});
    cluster.run([&](WorldRank rank, Engine& engine) {
        std::vector<std::byte> data(16);
        MessageStatus status;
        if (rank == 1) {
            static_cast<void>(cluster.segment().raise_abort(3, 1, "test"));
            return;
        }
        DLRT_DEMAND(engine.recv(to(1, 2), bytes_to_fill(data), status).code == Errc::aborted);
        engine.probe(to(1, 2), status);
        DLRT_DEMAND(status.error.code == Errc::aborted);
        DLRT_DEMAND(engine.mprobe(to(any_source, 2), status) == nullptr);
        DLRT_DEMAND(status.error.code == Errc::aborted);
    });
}

TEST_CASE("wait: nothing can be lost between announcing the sleep and sleeping", "[runtime]") {
    // No spinning and no yielding: every wait goes to the kernel at once.
    Wiring wiring;
    wiring.budget = {.spin_rounds = 0, .yield_rounds = 0, .shared_yield_ns = 0};
    Cluster cluster(2, wiring);
    cluster.run([](WorldRank rank, Engine& engine) {
        std::vector<std::byte> data(8);
        MessageStatus status;
        for (int round = 0; round < 3000; ++round) {
            const Route other = to(1 - rank, round);
            if (rank == 0) {
                DLRT_DEMAND(engine.send(SendMode::standard, other, bytes_to_send(data)).ok());
                DLRT_DEMAND(engine.recv(other, bytes_to_fill(data), status).ok());
            } else {
                DLRT_DEMAND(engine.recv(other, bytes_to_fill(data), status).ok());
                DLRT_DEMAND(engine.send(SendMode::standard, other, bytes_to_send(data)).ok());
            }
        }
    });
}

TEST_CASE("wait on descriptors: messages of a transport with its own wake a rank", "[runtime]") {
    Cluster cluster(2, on_descriptors(5));
    cluster.run([](WorldRank rank, Engine& engine) {
        std::vector<std::byte> small(8), large(100'000);
        MessageStatus status;
        for (int round = 0; round < 500; ++round) {
            const Route other = to(1 - rank, round);
            std::vector<std::byte>& data = round % 50 == 0 ? large : small;
            if (rank == 1) DLRT_DEMAND(engine.recv(other, bytes_to_fill(data), status).ok());
            DLRT_DEMAND(engine.send(SendMode::standard, other, bytes_to_send(data)).ok());
            if (rank == 0) DLRT_DEMAND(engine.recv(other, bytes_to_fill(data), status).ok());
        }
    });
}

TEST_CASE(
    "wait on descriptors: a sleeping rank costs nothing and wakes for a message", "[runtime]"
) {
    Cluster cluster(2, on_descriptors(1));
    Usage used{};
    cluster.run([&](WorldRank rank, Engine& engine) {
        std::vector<std::byte> data(8);
        MessageStatus status;
        if (rank == 0) {
            await_sleep(cluster, 1);
            // Not to synchronise: this is the time that the other is to wait.
            std::this_thread::sleep_for(std::chrono::milliseconds(333));
            DLRT_DEMAND(engine.send(SendMode::standard, to(1, 1), bytes_to_send(data)).ok());
            return;
        }
        const Usage before = usage_of_thread();
        DLRT_DEMAND(engine.recv(to(0, 1), bytes_to_fill(data), status).ok());
        const Usage after = usage_of_thread();
        used = {after.cpu_ms - before.cpu_ms, after.wakeups - before.wakeups};
    });
    CHECK(used.cpu_ms < 30);
    CHECK(used.wakeups < 20);
}

TEST_CASE(
    "wait on descriptors: the doorbell's wakes a rank for a death and an abort", "[runtime]"
) {
    // The third lives on and does nothing: somebody could still send.
    Cluster cluster(3, on_descriptors(1));
    cluster.run([&](WorldRank rank, Engine& engine) {
        if (rank == 2) return;
        if (rank == 0) {
            await_sleep(cluster, 1);
            cluster.segment().mark_departed(0);
            await_sleep(cluster, 1);
            static_cast<void>(cluster.segment().raise_abort(3, 0, "test"));
            return;
        }
        std::vector<std::byte> data(8);
        MessageStatus status;
        DLRT_DEMAND(engine.recv(to(0, 1), bytes_to_fill(data), status).code == Errc::peer_lost);
        const Route from_any{test_context, any_source, 1};
        DLRT_DEMAND(engine.recv(from_any, bytes_to_fill(data), status).code == Errc::aborted);
    });
}

TEST_CASE(
    "wait on descriptors: another thread of the rank wakes the one that sleeps", "[runtime]"
) {
    Wiring wiring = on_descriptors(1);
    wiring.thread_mode = ThreadMode::multiple;
    Cluster cluster(1, wiring);
    Engine& engine = cluster.engine(0);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::byte> got(8);
        std::thread receiver([&] {
            MessageStatus status;
            DLRT_DEMAND(engine.recv(to(0, 1), bytes_to_fill(got), status).ok());
        });
        await_sleep(cluster, 0);
        const auto sent = pattern(static_cast<std::uint64_t>(round), 8);
        REQUIRE(engine.send(SendMode::standard, to(0, 1), bytes_to_send(sent)).ok());
        receiver.join();
        REQUIRE(got == sent);
    }
}

}  // namespace dlrt
