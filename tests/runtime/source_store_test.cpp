// SPDX-License-Identifier: Apache-2.0
/// Ranks that only share a key-value store: joining, deaths, double claims, several hosts.
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/rank_identity.hpp"
#include "runtime/wireup_source.hpp"
#include "tests/runtime/store_server.hpp"

#include <algorithm>
#include <optional>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using test::StoreServer;
using Statuses = std::vector<int>;
constexpr int timeout_ms = 15'000;
constexpr std::uint64_t sleep_limit_ns = 15'000'000'000;

/// A rank that has joined.
struct Joined {
    std::unique_ptr<WireupSource> source;
    std::optional<Membership> membership;

    explicit Joined(KeyValueStore store, int limit_ms = timeout_ms)
        : source(make_store_source(std::move(store), limit_ms)) {
        auto result = source->join();
        if (result) membership.emplace(std::move(*result));
    }
    [[nodiscard]] HostSegment& segment() { return membership->segment; }
    [[nodiscard]] Doorbell& bell() { return segment().doorbell(membership->rank); }

    /// Sleeps on the own doorbell until it is so; false when time is up.
    template<typename Condition>
    bool sleep_until(Condition is_so) {
        const std::uint64_t deadline_ns = monotonic_ns() + sleep_limit_ns;
        while (!is_so()) {
            const std::uint64_t now_ns = monotonic_ns();
            if (now_ns >= deadline_ns) return false;
            bell().announce_sleep(SleepKind::futex);
            if (is_so()) return true;
            // A ringer that clears the announcement in this moment cuts the sleep short, before it
            // raises the sequence and for something that we had seen already.
            bell().sleep_futex(static_cast<std::int64_t>(deadline_ns - now_ns));
        }
        return true;
    }
    void set_life(RankLife life) {
        segment().life(membership->rank).life.store(static_cast<std::uint32_t>(life));
    }
    /// Says something to all others and waits until all have said it.
    bool meet(std::int32_t word) {
        segment().life(membership->rank).pid.store(word);
        const std::uint32_t size = membership->map.size();
        for (std::uint32_t i = 0; i < size; ++i) {
            static_cast<void>(segment().doorbell(i).ring(RingFence::full));
        }
        return sleep_until([&] {
            for (std::uint32_t i = 0; i < size; ++i) {
                // One that has died since was there before, for those who look late.
                constexpr auto departed = static_cast<std::uint32_t>(RankLife::departed);
                if (segment().life(i).life.load() == departed) continue;
                if (segment().life(i).pid.load() < word) return false;
            }
            return true;
        });
    }
    void leave() {
        set_life(RankLife::finalized);
        static_cast<void>(source->leave());
    }
};

RankLife life_of(const HostSegment& segment, std::uint32_t rank) {
    return static_cast<RankLife>(segment.life(rank).life.load());
}

}  // namespace

TEST_CASE("store source: all ranks get one segment, and can join a second time", "[runtime]") {
    StoreServer server(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        server.start(rank, [](const KeyValueStore& store) {
            for (int round = 0; round < 2; ++round) {
                Joined joined(store);
                if (!joined.membership) return 1;
                if (joined.membership->rank != store.rank) return 2;
                if (joined.membership->map.size() != 4) return 3;
                if (joined.segment().life(3).world_rank != 3) return 4;
                if (joined.segment().life(3).pid.load() > 1) return 5;
                if (!joined.meet(1)) return 6;
                if (!joined.meet(2)) return 7;
                joined.leave();
            }
            return 0;
        });
    }
    CHECK(server.serve() == Statuses{0, 0, 0, 0});
}

TEST_CASE("store source: one rank needs nobody", "[runtime]") {
    StoreServer server(1);
    server.start(0, [](const KeyValueStore& store) {
        Joined joined(store);
        if (!joined.membership || joined.membership->map.size() != 1) return 1;
        joined.leave();
        return 0;
    });
    CHECK(server.serve() == Statuses{0});
}

TEST_CASE("store source: a rank's eventfd is there for the others", "[runtime]") {
    StoreServer server(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        server.start(rank, [](const KeyValueStore& store) {
            Joined joined(store);
            if (!joined.membership) return 1;
            const std::uint32_t next = (store.rank + 1) % 3;
            const std::uint64_t word = 7 + store.rank;
            if (::write(joined.source->doorbell_of(next), &word, sizeof word) < 0) return 2;
            pollfd entry{joined.membership->doorbell.get(), POLLIN, 0};
            if (::poll(&entry, 1, timeout_ms) != 1) return 3;
            std::uint64_t value = 0;
            if (::read(entry.fd, &value, sizeof value) < 0) return 4;
            if (!joined.meet(1)) return 5;
            joined.leave();
            return value == 7 + (store.rank + 2) % 3 ? 0 : 6;
        });
    }
    CHECK(server.serve() == Statuses{0, 0, 0});
}

TEST_CASE("store source: a rank that dies is marked departed and all are woken", "[runtime]") {
    StoreServer server(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        server.start(rank, [](const KeyValueStore& store) {
            Joined joined(store);
            if (!joined.membership || !joined.meet(1)) return 1;
            if (store.rank == 2) return 7;
            const bool is_seen = joined.sleep_until([&] {
                return joined.segment().header().departures.load() == 1;
            });
            if (!is_seen) return 2;
            if (life_of(joined.segment(), 2) != RankLife::departed) return 3;
            if (joined.segment().abort_cell().raised.load() != 0) return 4;
            if (life_of(joined.segment(), 1 - store.rank) == RankLife::departed) return 5;
            joined.set_life(RankLife::finalized);
            // Rank 0 stays until rank 1 has seen what it came for.
            if (!joined.sleep_until([&] {
                    return store.rank == 1 || life_of(joined.segment(), 1) == RankLife::finalized;
                }))
                return 6;
            static_cast<void>(joined.segment().doorbell(0).ring(RingFence::full));
            joined.leave();
            return 0;
        });
    }
    CHECK(server.serve() == Statuses{0, 0, 7});
}

TEST_CASE("store source: when rank 0 dies the others are told to stop", "[runtime]") {
    StoreServer server(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        server.start(rank, [](const KeyValueStore& store) {
            Joined joined(store);
            if (!joined.membership || !joined.meet(1)) return 1;
            if (store.rank == 0) return 9;
            const bool is_raised = joined.sleep_until([&] {
                return joined.segment().abort_cell().raised.load() != 0;
            });
            if (!is_raised) return 2;
            return life_of(joined.segment(), 0) == RankLife::departed ? 0 : 3;
        });
    }
    CHECK(server.serve() == Statuses{9, 0, 0});
}

TEST_CASE("store source: ranks that leave in order disturb nobody", "[runtime]") {
    StoreServer server(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        server.start(rank, [](const KeyValueStore& store) {
            Joined joined(store);
            if (!joined.membership || !joined.meet(1)) return 1;
            auto other = HostSegment::open(joined.segment().descriptor());
            joined.leave();
            // Both have left when both lives say so; no watch may have said otherwise since.
            joined.membership->rank = store.rank;
            static_cast<void>(other->doorbell(1 - store.rank).ring(RingFence::full));
            const bool has_left = joined.sleep_until([&] {
                return life_of(*other, 1 - store.rank) == RankLife::finalized;
            });
            if (!has_left) return 2;
            return other->header().departures.load() == 0 ? 0 : 3;
        });
    }
    CHECK(server.serve() == Statuses{0, 0});
}

TEST_CASE("store source: one of two processes that claim a rank is refused", "[runtime]") {
    StoreServer server(3);
    for (const std::uint32_t rank : {0u, 1u, 2u, 2u}) {
        server.start(rank, [](const KeyValueStore& store) {
            Joined joined(store);
            // Who is in stays until the other has been refused, and not only missed somebody.
            if (joined.membership) return store.get("refused") ? 0 : 3;
            const std::string text = last_error_text();
            static_cast<void>(store.put("refused", "yes"));
            // Once all places are taken, rank 0 listens no more: then it doesn't answer the late
            // one.
            for (const char* reason : {"claim", "does not let", "does not answer"}) {
                if (text.find(reason) != std::string::npos) return 1;
            }
            return 2;
        });
    }
    Statuses statuses = server.serve();
    std::sort(statuses.begin() + 2, statuses.end());
    CHECK(statuses == Statuses{0, 0, 0, 1});
}

TEST_CASE("store source: two processes can't both be rank 0", "[runtime]") {
    StoreServer server(2);
    for (int i = 0; i < 2; ++i) {
        server.start(0, [](const KeyValueStore& store) {
            Joined joined(store, 1500);
            return joined.membership ? 0 : 1;
        });
    }
    server.start(1, [](const KeyValueStore& store) {
        Joined joined(store);
        return joined.membership ? 0 : 1;
    });
    Statuses statuses = server.serve();
    CHECK(std::count(statuses.begin(), statuses.begin() + 2, 0) <= 1);
}

TEST_CASE("store source: each host's first rank lets in the others of its host", "[runtime]") {
    StoreServer server(5);
    server.on_put = [](const std::string& key, std::string& value) {
        auto identity = decode_identity(value);
        const bool is_far = key.ends_with("/1") || key.ends_with("/3");
        if (!identity || !is_far) return;
        identity->host_key = "elsewhere/1/2";
        identity->host_name = "far-away";
        value = encode_identity(*identity);
    };
    for (std::uint32_t rank = 0; rank < 5; ++rank) {
        server.start(rank, [](const KeyValueStore& store) {
            Joined joined(store);
            if (!joined.membership) return 1;
            const JobMap& map = joined.membership->map;
            if (map.hosts.size() != 2 || map.hosts[1].name != "far-away") return 2;
            if (map.ranks_on_host(0) != std::vector<std::uint32_t>{0, 2, 4}) return 3;
            if (map.ranks_on_host(1) != std::vector<std::uint32_t>{1, 3}) return 4;
            const SegmentHeader& header = joined.segment().header();
            if (header.host_index != map.ranks[store.rank].host_index) return 5;
            if (header.job_size != 5) return 6;
            if (joined.segment().life(1).world_rank != (header.host_index == 0 ? 2u : 3u)) return 7;
            if (joined.source->shared_secret().empty()) return 8;
            const auto own = std::byte(store.rank);
            if (!joined.source->put_address("t", std::span(&own, 1)).ok()) return 9;
            // All have put theirs; the first rank has them, the others ask it.
            for (std::uint32_t other = 0; other < 5; ++other) {
                auto address = joined.source->address_of(other, "t");
                while (!address) {
                    pollfd entry{joined.source->news_descriptor(), POLLIN, 0};
                    if (::poll(&entry, 1, timeout_ms) != 1) return 10;
                    joined.source->take_news();
                    address = joined.source->address_of(other, "t");
                }
                if (*address != std::vector<std::byte>{std::byte(other)}) return 11;
            }
            // A first rank stays until all of its host have asked.
            const std::uint32_t local_size = header.local_size;
            joined.segment().life(map.ranks[store.rank].local_rank).pid.store(1);
            while (map.ranks[store.rank].local_rank == 0) {
                std::uint32_t done = 0;
                for (std::uint32_t i = 0; i < local_size; ++i) {
                    if (joined.segment().life(i).pid.load() == 1) ++done;
                }
                if (done == local_size) break;
                ::poll(nullptr, 0, 1);
            }
            joined.membership->rank = map.ranks[store.rank].local_rank;
            joined.leave();
            return 0;
        });
    }
    CHECK(server.serve() == Statuses(5, 0));
}

TEST_CASE("store source: a rank that never comes is named", "[runtime]") {
    StoreServer server(2);
    server.start(0, [](const KeyValueStore& store) {
        auto source = make_store_source(store, 700);
        const Status status = source->join().error();
        const bool is_named = last_error_text().find("rank 1 is one") != std::string::npos;
        return status.code == Errc::timeout && is_named ? 0 : 1;
    });
    server.start(1, [](const KeyValueStore& store) {
        auto identity = *decode_identity(*store.get("dlrt/0/0"));
        return store.put("dlrt/0/1", encode_identity(identity)).ok() ? 0 : 1;
    });
    CHECK(server.serve() == Statuses{0, 0});
}

TEST_CASE("store source: numbers and functions that can't be are refused", "[runtime]") {
    KeyValueStore store;
    CHECK(make_store_source(store, 10)->join().error().code == Errc::argument);
    store.put = [](const std::string&, const std::string&) { return Status{}; };
    store.get = [](const std::string&) -> Result<std::string> { return fail(Errc::timeout, "no"); };
    store.rank = 2;
    store.size = 2;
    CHECK(make_store_source(store, 10)->join().error().code == Errc::argument);
    store.rank = 1;
    CHECK(make_store_source(store, 10)->join().error().code == Errc::timeout);
}

TEST_CASE("rank identity: comes back equal, and only what was encoded", "[runtime]") {
    const RankIdentity identity{"b/1/2", "host", "n", "sock", "secret", {0, 1, 2, 3, 8, 10, 11}};
    const std::string text = encode_identity(identity);
    CHECK(text == "dlrt1;b/1/2;host;n;sock;secret;0-3,8,10-11");
    CHECK(*decode_identity(text) == identity);
    for (const char* bad :
         {"", "dlrt1", "dlrt2;a;b;c;d;e;", "dlrt1;a;b;c;d;e;1-", "dlrt1;a;b;c;d;e;3,2",
          "dlrt1;a;b;c;d;e;0-9000", "dlrt1;a;b;c;d;e;1;2", "dlrt1;;b;c;d;e;0", "dlrt1;a;b;;d;e;0",
          "dlrt1;a;b;c;d;e;x"}) {
        CHECK(decode_identity(bad).error().code == Errc::wireup);
    }
    RankIdentity wide = identity;
    for (std::uint32_t cpu = 20; cpu < 1000; cpu += 2) wide.cpus.push_back(cpu);
    CHECK(decode_identity(encode_identity(wide))->cpus.empty());
}

}  // namespace dlrt
