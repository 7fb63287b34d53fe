// SPDX-License-Identifier: Apache-2.0
/// Back-pressure: what nobody receives costs bounded memory, and programs that are legal do not
/// deadlock.
#include "tests/runtime/engine_cluster.hpp"

#include <array>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

Route to(WorldRank peer, Tag tag) {
    return {test_context, peer, tag};
}

std::vector<Wiring> wirings() {
    return {Wiring{}, over_fake(31), over_fake(32, FakeGet::refused_later)};
}

}  // namespace

TEST_CASE("engine limits: a flood nobody receives stays small and arrives whole", "[runtime]") {
    constexpr std::size_t count = 1500;
    constexpr std::size_t size = 2000;
    // The credit, rounded up to blocks of powers of two, and an envelope for each message.
    constexpr std::uint64_t bound_bytes = 2 * 256 * 1024 + count * (80 + 32);
    for (const Wiring& wiring : wirings()) {
        Cluster cluster(2, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            std::vector<std::byte> token(1);
            MessageStatus status;
            if (rank == 0) {
                std::vector<std::vector<std::byte>> data;
                std::vector<Request*> sends;
                for (std::size_t i = 0; i < count; ++i) {
                    data.push_back(pattern(i, size));
                    sends.push_back(
                        engine.isend(SendMode::standard, to(1, 1), bytes_to_send(data.back()))
                    );
                }
                sends.push_back(engine.isend(SendMode::standard, to(1, 2), bytes_to_send(token)));
                engine.wait_all(sends);
                for (Request* send : sends) engine.release(send);
                return;
            }
            // The last message is here, so all of them are.
            engine.probe(to(0, 2), status);
            DLRT_DEMAND(engine.unexpected_bytes() <= bound_bytes);
            for (std::size_t i = 0; i < count; ++i) {
                std::vector<std::byte> got(size);
                DLRT_DEMAND(engine.recv(to(0, 1), bytes_to_fill(got), status).ok());
                DLRT_DEMAND(got == pattern(i, size));
            }
            DLRT_DEMAND(engine.recv(to(0, 2), bytes_to_fill(token), status).ok());
            DLRT_DEMAND(engine.unexpected_bytes() == 0);
        });
    }
}

TEST_CASE("engine limits: both flood each other and only then receive", "[runtime]") {
    constexpr std::size_t count = 800;
    for (const Wiring& wiring : wirings()) {
        Cluster cluster(2, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            const WorldRank other = 1 - rank;
            std::vector<std::vector<std::byte>> sent, got;
            std::vector<Request*> requests;
            const auto size_of = [](std::size_t i) { return i * 37 % 3001; };
            for (std::size_t i = 0; i < count; ++i) {
                sent.push_back(pattern(i, size_of(i)));
                requests.push_back(engine.isend(
                    SendMode::standard, to(other, static_cast<Tag>(i)), bytes_to_send(sent.back())
                ));
            }
            for (std::size_t i = count; i-- > 0;) {
                got.emplace_back(size_of(i));
                requests.push_back(
                    engine.irecv(to(other, static_cast<Tag>(i)), bytes_to_fill(got.back()))
                );
            }
            engine.wait_all(requests);
            for (std::size_t i = 0; i < count; ++i) {
                DLRT_DEMAND(got[count - 1 - i] == pattern(i, size_of(i)));
            }
            for (Request* request : requests) engine.release(request);
            DLRT_DEMAND(engine.unexpected_bytes() == 0);
        });
    }
}

TEST_CASE("engine limits: a flood from all to one, received in reverse order", "[runtime]") {
    constexpr std::size_t count = 300;
    for (const Wiring& wiring : wirings()) {
        Cluster cluster(5, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            MessageStatus status;
            if (rank != 0) {
                std::vector<std::vector<std::byte>> sent;
                std::vector<Request*> sends;
                for (std::size_t i = 0; i < count; ++i) {
                    sent.push_back(pattern(i + static_cast<std::size_t>(rank), 1000));
                    sends.push_back(engine.isend(
                        SendMode::standard, to(0, static_cast<Tag>(i)), bytes_to_send(sent.back())
                    ));
                }
                engine.wait_all(sends);
                for (Request* send : sends) engine.release(send);
                return;
            }
            for (std::size_t i = count; i-- > 0;) {
                for (WorldRank source = 4; source > 0; --source) {
                    std::vector<std::byte> got(1000);
                    const Route from = to(source, static_cast<Tag>(i));
                    DLRT_DEMAND(engine.recv(from, bytes_to_fill(got), status).ok());
                    DLRT_DEMAND(got == pattern(i + static_cast<std::size_t>(source), 1000));
                }
            }
        });
    }
}

TEST_CASE("engine limits: small messages flow on and on through the credit", "[runtime]") {
    Cluster cluster(2, Wiring{});
    cluster.run([](WorldRank rank, Engine& engine) {
        // Many times the credit, at 64 bytes a message.
        constexpr int count = 40'000;
        std::vector<std::byte> data(8);
        MessageStatus status;
        for (int i = 0; i < count; ++i) {
            if (rank == 0) {
                DLRT_DEMAND(engine.send(SendMode::standard, to(1, 1), bytes_to_send(data)).ok());
            } else {
                DLRT_DEMAND(engine.recv(to(0, 1), bytes_to_fill(data), status).ok());
            }
        }
    });
}

}  // namespace dlrt
