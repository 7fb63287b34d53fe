// SPDX-License-Identifier: Apache-2.0
/// Case B02: many messages of several ranks, taken by wildcards, after a probe, and by tag.
#include "tests/runtime/engine_cluster.hpp"

#include <array>
#include <cstring>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

Route to(WorldRank peer, Tag tag) {
    return {test_context, peer, tag};
}

struct Body {
    std::int32_t source, sequence, tag, filler;
};

constexpr std::int32_t wildcard_messages = 300;

void send_numbered(WorldRank rank, Engine& engine) {
    for (std::int32_t sequence = 0; sequence < wildcard_messages; ++sequence) {
        std::vector<std::byte> data(sequence % 2 == 0 ? sizeof(Body) : 50'000);
        const Body body{rank, sequence, sequence % 5, 0};
        std::memcpy(data.data(), &body, sizeof body);
        DLRT_DEMAND(engine.send(SendMode::standard, to(0, sequence % 5), bytes_to_send(data)).ok());
    }
}

/// Checks one message of case B02; `last` is the sequence seen last, by source (and tag, or 0).
void check_numbered(
    const std::vector<std::byte>& data, const MessageStatus& status,
    std::array<std::array<int, 5>, 4>& last, bool by_tag
) {
    Body body{};
    std::memcpy(&body, data.data(), sizeof body);
    DLRT_DEMAND(status.error.ok());
    DLRT_DEMAND(status.source == body.source);
    DLRT_DEMAND(status.tag == body.tag);
    DLRT_DEMAND(status.size_bytes == (body.sequence % 2 == 0 ? sizeof(Body) : 50'000));
    int& seen = last[static_cast<std::size_t>(body.source)]
                    [static_cast<std::size_t>(by_tag ? body.tag : 0)];
    DLRT_DEMAND(body.sequence > seen);
    seen = body.sequence;
}

std::array<std::array<int, 5>, 4> none_seen() {
    std::array<std::array<int, 5>, 4> last;
    for (auto& row : last) row.fill(-1);
    return last;
}

void receive_any(Engine& engine) {
    constexpr std::size_t open_count = 16;
    auto last = none_seen();
    std::vector<std::vector<std::byte>> buffers(open_count, std::vector<std::byte>(50'000));
    std::vector<Request*> open(open_count);
    const auto post = [&](std::size_t i) {
        open[i] = engine.irecv({test_context, any_source, any_tag}, bytes_to_fill(buffers[i]));
    };
    int posted = 0;
    for (; posted < static_cast<int>(open_count); ++posted) post(static_cast<std::size_t>(posted));
    // In the order of posting, which is the order of matching: one source's messages must rise.
    for (std::size_t turn = 0; turn < 3 * wildcard_messages; ++turn) {
        const std::size_t i = turn % open_count;
        engine.wait(open[i]);
        check_numbered(buffers[i], status_of(*open[i]), last, false);
        engine.release(open[i]);
        open[i] = nullptr;
        if (posted++ < 3 * wildcard_messages) post(i);
    }
}

void receive_probed(Engine& engine) {
    auto last = none_seen();
    for (int turn = 0; turn < 3 * wildcard_messages; ++turn) {
        MessageStatus found, status;
        engine.probe({test_context, any_source, any_tag}, found);
        std::vector<std::byte> data(found.size_bytes);
        DLRT_DEMAND(engine.recv(to(found.source, found.tag), bytes_to_fill(data), status).ok());
        DLRT_DEMAND(status.size_bytes == found.size_bytes);
        check_numbered(data, status, last, false);
    }
}

void receive_by_tag(Engine& engine) {
    auto last = none_seen();
    for (Tag tag = 4; tag >= 0; --tag) {
        for (int turn = 0; turn < 3 * wildcard_messages / 5; ++turn) {
            std::vector<std::byte> data(50'000);
            MessageStatus status;
            DLRT_DEMAND(
                engine.recv({test_context, any_source, tag}, bytes_to_fill(data), status).ok()
            );
            check_numbered(data, status, last, true);
        }
    }
}

}  // namespace

TEST_CASE("engine: wildcards keep the order of each source and name it rightly", "[runtime]") {
    for (const Wiring& wiring : {Wiring{}, over_fake(11), over_fake(12, FakeGet::absent)}) {
        Cluster cluster(4, wiring);
        cluster.run([](WorldRank rank, Engine& engine) {
            if (rank != 0) return send_numbered(rank, engine);
            receive_any(engine);
        });
        cluster.run([](WorldRank rank, Engine& engine) {
            if (rank != 0) return send_numbered(rank, engine);
            receive_probed(engine);
        });
        // By tag, the tags last sent first: only nonblocking sends can do that.
        cluster.run([](WorldRank rank, Engine& engine) {
            if (rank == 0) return receive_by_tag(engine);
            std::vector<std::vector<std::byte>> data;
            std::vector<Request*> sends;
            for (std::int32_t sequence = 0; sequence < wildcard_messages; ++sequence) {
                data.emplace_back(sequence % 2 == 0 ? sizeof(Body) : 50'000);
                const Body body{rank, sequence, sequence % 5, 0};
                std::memcpy(data.back().data(), &body, sizeof body);
                sends.push_back(engine.isend(
                    SendMode::standard, to(0, sequence % 5), bytes_to_send(data.back())
                ));
            }
            engine.wait_all(sends);
            for (Request* send : sends) engine.release(send);
        });
    }
}

}  // namespace dlrt
