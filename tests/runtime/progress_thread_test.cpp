// SPDX-License-Identifier: Apache-2.0
/// A thread that helps: operations end while nobody calls, and those who call don't meet it. Made
/// to run under ThreadSanitizer.
#include "runtime/progress_thread.hpp"

#include "tests/runtime/engine_cluster.hpp"

#include <chrono>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

constexpr std::size_t small_bytes = 16, large_bytes = 1u << 20;

Wiring with_locks(Wiring wiring) {
    wiring.thread_mode = ThreadMode::multiple;
    return wiring;
}

std::vector<Wiring> wirings() {
    Wiring on_descriptors = over_fake(32);
    on_descriptors.has_sleep_descriptors = true;
    Wiring without_reads;
    without_reads.allow_cross_memory = false;
    std::vector<Wiring> all;
    for (const Wiring& wiring : {Wiring{}, without_reads, over_fake(31), on_descriptors}) {
        all.push_back(with_locks(wiring));
    }
    return all;
}

std::unique_ptr<ProgressThread> help(Engine& engine) {
    auto helper = ProgressThread::start(engine);
    if (!helper) throw std::runtime_error(last_error_text());
    return std::move(*helper);
}

/// Waits without a call.
void compute_until_complete(const Request& request) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_complete(request)) {
        DLRT_DEMAND(std::chrono::steady_clock::now() < limit);
        std::this_thread::yield();
    }
}

}  // namespace

TEST_CASE("progress thread: messages arrive while both ranks compute", "[runtime]") {
    for (const Wiring& wiring : wirings()) {
        Cluster cluster(2, wiring);
        const auto first = help(cluster.engine(0)), second = help(cluster.engine(1));
        cluster.run([](WorldRank rank, Engine& engine) {
            const Route other{test_context, 1 - rank, 3};
            for (std::uint64_t round = 0; round < 6; ++round) {
                const std::size_t size = round % 2 == 0 ? small_bytes : large_bytes;
                const auto sent = pattern(2 * round + static_cast<unsigned>(rank), size);
                std::vector<std::byte> got(size);
                Request* const receive = engine.irecv(other, bytes_to_fill(got));
                Request* const send = engine.isend(
                    SendMode::synchronous, other, bytes_to_send(sent)
                );
                compute_until_complete(*receive);
                compute_until_complete(*send);
                DLRT_DEMAND(got == pattern(2 * round + static_cast<unsigned>(1 - rank), size));
                engine.release(receive);
                engine.release(send);
            }
        });
    }
}

TEST_CASE("progress thread: a receive that is open is filled beside blocking calls", "[runtime]") {
    for (const Wiring& wiring : wirings()) {
        Cluster cluster(2, wiring);
        const auto first = help(cluster.engine(0)), second = help(cluster.engine(1));
        cluster.run([](WorldRank rank, Engine& engine) {
            const Route open{test_context, 1 - rank, 1}, loop{test_context, 1 - rank, 2};
            std::vector<std::byte> late(large_bytes), got(small_bytes);
            Request* const receive = engine.irecv(open, bytes_to_fill(late));
            MessageStatus status;
            for (std::uint64_t round = 0; round < 300; ++round) {
                const auto sent = pattern(round, small_bytes);
                if (rank == 0) DLRT_DEMAND(engine.send({}, loop, bytes_to_send(sent)).ok());
                DLRT_DEMAND(engine.recv(loop, bytes_to_fill(got), status).ok());
                DLRT_DEMAND(got == sent);
                if (rank == 1) DLRT_DEMAND(engine.send({}, loop, bytes_to_send(sent)).ok());
            }
            const auto large = pattern(static_cast<unsigned>(rank), large_bytes);
            Request* const send = engine.isend({}, open, bytes_to_send(large));
            compute_until_complete(*receive);
            compute_until_complete(*send);
            DLRT_DEMAND(late == pattern(static_cast<unsigned>(1 - rank), large_bytes));
            engine.release(receive);
            engine.release(send);
        });
    }
}

TEST_CASE("progress thread: what a rank sends to itself arrives", "[runtime]") {
    Cluster cluster(1, with_locks(Wiring{}));
    Engine& engine = cluster.engine(0);
    const auto helper = help(engine);
    const Route self{test_context, 0, 1};
    for (const std::size_t size : {small_bytes, large_bytes}) {
        const auto sent = pattern(7, size);
        std::vector<std::byte> got(size);
        Request* const send = engine.isend(SendMode::synchronous, self, bytes_to_send(sent));
        Request* const receive = engine.irecv(self, bytes_to_fill(got));
        compute_until_complete(*receive);
        compute_until_complete(*send);
        CHECK(got == sent);
        engine.release(receive);
        engine.release(send);
    }
}

TEST_CASE("progress thread: it learns of an abort and of a rank that has gone", "[runtime]") {
    for (const Errc reason : {Errc::aborted, Errc::peer_lost}) {
        Cluster cluster(2, with_locks(Wiring{}));
        const auto helper = help(cluster.engine(0));
        std::vector<std::byte> got(small_bytes);
        Request* const receive = cluster.engine(0).irecv({test_context, 1, 1}, bytes_to_fill(got));
        if (reason == Errc::aborted) {
            static_cast<void>(cluster.segment().raise_abort(1, 1, "on purpose"));
        } else {
            cluster.segment().mark_departed(1);
        }
        compute_until_complete(*receive);
        CHECK(outcome_of(*receive).code == reason);
        cluster.engine(0).release(receive);
    }
}

TEST_CASE("progress thread: it ends at once, whatever is open", "[runtime]") {
    for (const Wiring& wiring : wirings()) {
        for (int round = 0; round < 50; ++round) {
            Cluster cluster(2, wiring);
            Engine& engine = cluster.engine(0);
            std::vector<std::byte> got(small_bytes);
            auto helper = help(engine);
            if (round % 2 == 0) {
                Request* const open = engine.irecv({test_context, 1, 1}, bytes_to_fill(got));
                engine.release(open);
            }
            helper.reset();
        }
    }
}

}  // namespace dlrt
