// SPDX-License-Identifier: Apache-2.0
/// The engine's calls between ranks that are threads of this process, over shared memory and over a
/// transport that does all that the contract allows: sizes, order, wildcards, truncation, probes,
/// persistent requests, cancel.
#include "tests/runtime/engine_cluster.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

Wiring without_cross_memory() {
    Wiring wiring;
    wiring.allow_cross_memory = false;
    return wiring;
}

std::vector<Wiring> all_wirings() {
    return {
        Wiring{},
        without_cross_memory(),
        over_fake(1),
        over_fake(2, FakeGet::refused),
        over_fake(3, FakeGet::refused_later),
        over_fake(4, FakeGet::absent),
    };
}

std::vector<std::size_t> edge_sizes(std::size_t largest) {
    std::vector<std::size_t> sizes = {0};
    for (std::size_t power = 1; power <= largest; power *= 2) {
        for (const std::size_t size : {power - 1, power, power + 1}) {
            if (size > sizes.back()) sizes.push_back(size);
        }
    }
    return sizes;
}

Route to(WorldRank peer, Tag tag) {
    return {test_context, peer, tag};
}

void check_received(
    const std::vector<std::byte>& data, std::uint64_t seed, const MessageStatus& status,
    WorldRank source, Tag tag
) {
    DLRT_DEMAND(status.error.ok());
    DLRT_DEMAND(status.source == source);
    DLRT_DEMAND(status.tag == tag);
    DLRT_DEMAND(status.size_bytes == data.size());
    DLRT_DEMAND(data == pattern(seed, data.size()));
}

}  // namespace

TEST_CASE("engine: every size around a power of two, both directions at once", "[runtime]") {
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            const WorldRank other = 1 - rank;
            Tag tag = 0;
            for (const std::size_t size : edge_sizes(1 << 20)) {
                const auto mine = pattern(size + static_cast<std::size_t>(rank), size);
                std::vector<std::byte> theirs(size);
                Request* const receive = engine.irecv(to(other, tag), bytes_to_fill(theirs));
                Request* const send = engine.isend(
                    SendMode::standard, to(other, tag), bytes_to_send(mine)
                );
                const std::array both = {receive, send};
                engine.wait_all(both);
                check_received(
                    theirs, size + static_cast<std::size_t>(other), status_of(*receive), other, tag
                );
                engine.release(receive);
                engine.release(send);
                ++tag;
            }
        });
    }
}

TEST_CASE("engine: blocking calls of every size, and to oneself", "[runtime]") {
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            for (const std::size_t size : edge_sizes(1 << 18)) {
                const auto sent = pattern(size, size);
                std::vector<std::byte> got(size);
                MessageStatus status;
                if (rank == 0) {
                    DLRT_DEMAND(engine.send(SendMode::standard, to(1, 3), bytes_to_send(sent)).ok()
                    );
                } else {
                    DLRT_DEMAND(engine.recv(to(0, 3), bytes_to_fill(got), status).ok());
                    check_received(got, size, status, 0, 3);
                }
                std::vector<std::byte> own(size);
                DLRT_DEMAND(engine
                                .sendrecv(
                                    to(rank, 4), bytes_to_send(sent), to(rank, 4),
                                    bytes_to_fill(own), status
                                )
                                .ok());
                check_received(own, size, status, rank, 4);
            }
        });
    }
}

TEST_CASE("engine: a shorter buffer gets the head of the message and an error", "[runtime]") {
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            for (const std::size_t size : edge_sizes(1 << 17)) {
                if (size == 0) continue;
                for (const std::size_t fits : {std::size_t{0}, size / 2, size - 1}) {
                    if (rank == 0) {
                        const auto sent = pattern(size, size);
                        DLRT_DEMAND(
                            engine.send(SendMode::standard, to(1, 3), bytes_to_send(sent)).ok()
                        );
                        continue;
                    }
                    std::vector<std::byte> got(fits + 64, std::byte{0xee});
                    MessageStatus status;
                    const Buffer target{got.data(), fits, &Layout::of(ElementType::byte)};
                    const Status outcome = engine.recv(to(0, 3), target, status);
                    DLRT_DEMAND(outcome.code == Errc::truncate);
                    DLRT_DEMAND(last_error_text().find("world rank 0") != std::string::npos);
                    DLRT_DEMAND(status.error.code == Errc::truncate);
                    DLRT_DEMAND(status.size_bytes == fits);
                    for (std::size_t i = 0; i < fits; ++i) {
                        DLRT_DEMAND(got[i] == pattern_byte(size, i));
                    }
                    for (std::size_t i = fits; i < got.size(); ++i) {
                        DLRT_DEMAND(got[i] == std::byte{0xee});
                    }
                }
            }
        });
    }
}

TEST_CASE("engine: a cancelled receive never takes a message", "[runtime]") {
    Cluster cluster(2, Wiring{});
    cluster.run([](WorldRank rank, Engine& engine) {
        std::vector<std::byte> cancelled(8, std::byte{1}), got(8);
        for (const WorldRank from : {any_source, 1 - rank}) {
            Request* const receive = engine.irecv(to(from, 77), bytes_to_fill(cancelled));
            DLRT_DEMAND(engine.cancel(receive).ok());
            engine.wait(receive);
            DLRT_DEMAND(status_of(*receive).is_cancelled);
            DLRT_DEMAND(status_of(*receive).error.ok());
            engine.release(receive);
        }
        MessageStatus status;
        const auto sent = pattern(static_cast<std::uint64_t>(rank), 8);
        DLRT_DEMAND(engine
                        .sendrecv(
                            to(1 - rank, 77), bytes_to_send(sent), to(1 - rank, 77),
                            bytes_to_fill(got), status
                        )
                        .ok());
        check_received(got, static_cast<std::uint64_t>(1 - rank), status, 1 - rank, 77);
        DLRT_DEMAND(cancelled == std::vector<std::byte>(8, std::byte{1}));
    });
}

TEST_CASE("engine: cancel after the match does nothing, and a send is not cancelled", "[runtime]") {
    Cluster cluster(1, Wiring{});
    Engine& engine = cluster.engine(0);
    const auto sent = pattern(1, 4);
    std::vector<std::byte> got(4);
    Request* const send = engine.isend(SendMode::synchronous, to(0, 1), bytes_to_send(sent));
    CHECK_FALSE(engine.test(send));
    CHECK(engine.cancel(send).code == Errc::unsupported);
    Request* const receive = engine.irecv(to(0, 1), bytes_to_fill(got));
    engine.wait(receive);
    CHECK(engine.cancel(receive).ok());
    CHECK_FALSE(status_of(*receive).is_cancelled);
    CHECK(got == sent);
    engine.wait(send);
    engine.release(send);
    engine.release(receive);
}

TEST_CASE("engine: ten thousand receives posted and cancelled leave nothing behind", "[runtime]") {
    Cluster cluster(1, Wiring{});
    Engine& engine = cluster.engine(0);
    std::vector<std::byte> buffer(8);
    for (int i = 0; i < 10'000; ++i) {
        Request* const receive = engine.irecv(to(0, i), bytes_to_fill(buffer));
        REQUIRE(engine.cancel(receive).ok());
        engine.wait(receive);
        REQUIRE(status_of(*receive).is_cancelled);
        engine.release(receive);
    }
    CHECK(engine.unexpected_bytes() == 0);
}

TEST_CASE("engine: a synchronous send completes only after it was matched", "[runtime]") {
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        std::atomic<bool> is_matched{false};
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
            is_matched = false;
            cluster.run([&](WorldRank rank, Engine& engine) {
                auto data = pattern(size, size);
                MessageStatus status;
                if (rank == 1) {
                    DLRT_DEMAND(
                        engine.send(SendMode::synchronous, to(0, 1), bytes_to_send(data)).ok()
                    );
                    DLRT_DEMAND(is_matched);
                    return;
                }
                // It is here, and the sender has had every chance to go on too early.
                engine.probe(to(1, 1), status);
                for (int i = 0; i < 100; ++i) static_cast<void>(engine.progress());
                is_matched = true;
                std::vector<std::byte> got(size);
                DLRT_DEMAND(engine.recv(to(1, 1), bytes_to_fill(got), status).ok());
                check_received(got, size, status, 1, 1);
            });
        }
    }
}

TEST_CASE("engine: a matched probe takes its message out of everybody's sight", "[runtime]") {
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        for (const std::size_t size : {std::size_t{0}, std::size_t{40}, std::size_t{70'000}}) {
            cluster.run([&](WorldRank rank, Engine& engine) {
                const auto first = pattern(1, size), second = pattern(2, size);
                if (rank == 0) {
                    DLRT_DEMAND(engine.send(SendMode::standard, to(1, 5), bytes_to_send(first)).ok()
                    );
                    DLRT_DEMAND(
                        engine.send(SendMode::standard, to(1, 5), bytes_to_send(second)).ok()
                    );
                    return;
                }
                MessageStatus found, status;
                MatchedMessage* const message = engine.mprobe(
                    {test_context, any_source, any_tag}, found
                );
                DLRT_DEMAND(message != nullptr);
                DLRT_DEMAND(found.source == 0 && found.tag == 5 && found.size_bytes == size);
                // The first is mine already: a large first message must be asked for before the
                // second can come.
                std::vector<std::byte> got_first(size), got_second(size);
                Request* const receive = engine.imrecv(message, bytes_to_fill(got_first));
                DLRT_DEMAND(engine.recv(to(0, 5), bytes_to_fill(got_second), status).ok());
                check_received(got_second, 2, status, 0, 5);
                engine.wait(receive);
                check_received(got_first, 1, status_of(*receive), 0, 5);
                engine.release(receive);
                DLRT_DEMAND(engine.improbe({test_context, any_source, any_tag}, found) == nullptr);
                DLRT_DEMAND(!engine.iprobe({test_context, any_source, any_tag}, found));
                DLRT_DEMAND(engine.unexpected_bytes() == 0);
            });
        }
    }
}

TEST_CASE("engine: a persistent request does the same again and again", "[runtime]") {
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        for (const std::size_t size : {std::size_t{8}, std::size_t{5000}, std::size_t{200'000}}) {
            cluster.run([&](WorldRank rank, Engine& engine) {
                std::vector<std::byte> data(size);
                Request* const request = rank == 0
                                             ? engine.send_init(
                                                   SendMode::standard, to(1, 9), bytes_to_send(data)
                                               )
                                             : engine.recv_init(to(0, 9), bytes_to_fill(data));
                DLRT_DEMAND(is_persistent(*request));
                DLRT_DEMAND(is_complete(*request) && !is_active(*request));
                for (std::uint64_t round = 0; round < 30; ++round) {
                    if (rank == 0) std::ranges::copy(pattern(round, size), data.begin());
                    DLRT_DEMAND(engine.start(request).ok());
                    if (round == 0) DLRT_DEMAND(engine.start(request).code == Errc::request);
                    engine.wait(request);
                    DLRT_DEMAND(!is_active(*request));
                    if (rank == 1) check_received(data, round, status_of(*request), 0, 9);
                }
                if (rank == 1) {
                    DLRT_DEMAND(engine.start(request).ok());
                    DLRT_DEMAND(engine.cancel(request).ok());
                    engine.wait(request);
                    DLRT_DEMAND(status_of(*request).is_cancelled);
                }
                engine.release(request);
            });
        }
    }
}

TEST_CASE("engine: any of several, some of them inactive or null", "[runtime]") {
    Cluster cluster(1, Wiring{});
    Engine& engine = cluster.engine(0);
    std::vector<std::byte> a(4), b(4);
    Request* const idle = engine.recv_init(to(0, 1), bytes_to_fill(a));
    const std::array none = {static_cast<Request*>(nullptr), idle};
    engine.wait_any(none);
    Request* const first = engine.irecv(to(0, 1), bytes_to_fill(a));
    Request* const second = engine.irecv(to(0, 2), bytes_to_fill(b));
    const std::array all = {idle, static_cast<Request*>(nullptr), first, second};
    const auto sent = pattern(5, 4);
    REQUIRE(engine.send(SendMode::standard, to(0, 2), bytes_to_send(sent)).ok());
    engine.wait_any(all);
    CHECK_FALSE(is_complete(*first));
    REQUIRE(is_complete(*second));
    CHECK(b == sent);
    CHECK(engine.test(second));
    REQUIRE(engine.send(SendMode::standard, to(0, 1), bytes_to_send(sent)).ok());
    engine.wait_any(all);
    CHECK(is_complete(*first));
    for (Request* request : {idle, first, second}) engine.release(request);
}

TEST_CASE("engine: a request released while active ends by itself", "[runtime]") {
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            const auto sent = pattern(3, 300'000);
            MessageStatus status;
            if (rank == 0) {
                engine.release(engine.isend(SendMode::standard, to(1, 1), bytes_to_send(sent)));
                DLRT_DEMAND(engine.has_outgoing());
                engine.wait_until([&] { return !engine.has_outgoing(); });
                return;
            }
            std::vector<std::byte> got(sent.size());
            DLRT_DEMAND(engine.recv(to(0, 1), bytes_to_fill(got), status).ok());
            check_received(got, 3, status, 0, 1);
            engine.wait_until([&] { return !engine.has_outgoing(); });
        });
    }
}

TEST_CASE("engine: layouts with gaps travel as their packed stream", "[runtime]") {
    constexpr std::int64_t count = 20'000;
    // Three ints of every five.
    const auto three_of_five = *Layout::resized(
        0, 20, *Layout::contiguous(3, Layout::of(ElementType::int32))
    );
    for (const Wiring& wiring : all_wirings()) {
        Cluster cluster(2, wiring);
        for (const std::int64_t used : {std::int64_t{1}, std::int64_t{100}, count}) {
            cluster.run([&](WorldRank rank, Engine& engine) {
                std::vector<std::int32_t> data(static_cast<std::size_t>(count) * 5, -1);
                MessageStatus status;
                const auto elements = static_cast<std::uint64_t>(used);
                if (rank == 0) {
                    std::iota(data.begin(), data.end(), 0);
                    const ConstBuffer buffer{data.data(), elements, &three_of_five};
                    DLRT_DEMAND(engine.send(SendMode::standard, to(1, 1), buffer).ok());
                    DLRT_DEMAND(engine.send(SendMode::standard, to(1, 2), buffer).ok());
                    return;
                }
                const Buffer buffer{data.data(), elements, &three_of_five};
                DLRT_DEMAND(engine.recv(to(0, 1), buffer, status).ok());
                DLRT_DEMAND(status.size_bytes == elements * 12);
                for (std::size_t i = 0; i < data.size(); ++i) {
                    const bool is_data = i % 5 < 3 && i / 5 < elements;
                    DLRT_DEMAND(data[i] == (is_data ? static_cast<std::int32_t>(i) : -1));
                }
                std::vector<std::int32_t> dense(elements * 3);
                const Buffer plain{dense.data(), dense.size(), &Layout::of(ElementType::int32)};
                DLRT_DEMAND(engine.recv(to(0, 2), plain, status).ok());
                for (std::size_t i = 0; i < dense.size(); ++i) {
                    DLRT_DEMAND(dense[i] == static_cast<std::int32_t>(i / 3 * 5 + i % 3));
                }
            });
        }
    }
}

TEST_CASE("engine: messages of a dropped context are gone and their senders free", "[runtime]") {
    Cluster cluster(1, Wiring{});
    Engine& engine = cluster.engine(0);
    const auto sent = pattern(1, 16);
    REQUIRE(engine.send(SendMode::standard, {ContextId{20}, 0, 1}, bytes_to_send(sent)).ok());
    Request* const send = engine.isend(
        SendMode::synchronous, {ContextId{20}, 0, 1}, bytes_to_send(sent)
    );
    REQUIRE(engine.send(SendMode::standard, {ContextId{22}, 0, 1}, bytes_to_send(sent)).ok());
    while (engine.progress()) {}
    CHECK(engine.drop_context(ContextId{20}) == 2);
    engine.wait(send);
    engine.release(send);
    MessageStatus status;
    CHECK_FALSE(engine.iprobe({ContextId{20}, any_source, any_tag}, status));
    CHECK(engine.iprobe({ContextId{22}, any_source, any_tag}, status));
    CHECK(engine.drop_context(ContextId{22}) == 1);
    CHECK(engine.unexpected_bytes() == 0);
}

}  // namespace dlrt
