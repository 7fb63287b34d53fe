// SPDX-License-Identifier: Apache-2.0
/// What transports/shm promises beyond the common contract: memory, sessions, bells, fairness.
#include "transports/shm/shm.hpp"

#include "runtime/base/clock.hpp"
#include "tests/transports/shm_area.hpp"
#include "transports/shm/area.hpp"

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::testing {
namespace {

using Endpoints = std::vector<std::unique_ptr<Endpoint>>;

Endpoints open_all(const ShmArea& area) {
    Endpoints endpoints;
    for (std::uint32_t rank = 0; rank < area.local_size(); ++rank) {
        endpoints.push_back(area.open(rank));
    }
    return endpoints;
}

Bytes bytes_of(const std::vector<std::byte>& bytes) {
    return {bytes.data(), bytes.size()};
}

/// Takes everything that is there; returns first words of the headers in the order of arrival.
std::vector<std::uint64_t> take_all(Endpoint& endpoint) {
    std::vector<std::uint64_t> found;
    std::array<Arrival, 5> arrivals;
    while (endpoint.has_work()) {
        const std::size_t count = endpoint.poll(arrivals);
        for (std::size_t i = 0; i < count; ++i) found.push_back(arrivals[i].header.first);
    }
    static_cast<void>(endpoint.poll(arrivals));
    return found;
}

}  // namespace

TEST_CASE("shm: an area that is too small, or a rank that is none, is refused", "[transports]") {
    const ShmArea area(2);
    shm::Options options = area.options(0);
    options.area = options.area.first(options.area.size() - 1);
    CHECK(shm::open_endpoint(options).error().code == Errc::limit);
    options = area.options(0);
    options.local_rank = 2;
    CHECK(shm::open_endpoint(options).error().code == Errc::argument);
    CHECK(shm::area_size_bytes(3) == 3 * 4 * 1024 * 1024 + 9 * 128 * 1024);
}

TEST_CASE("shm: a thousand ranks can open, and one that is silent costs little", "[transports]") {
    const ShmArea area(1024);
    const Endpoints two = [&] {
        Endpoints some;
        some.push_back(area.open(0));
        some.push_back(area.open(1023));
        return some;
    }();
    CHECK(area.touched_bytes() <= 8 * 4096);
    CHECK(two[1]->post_eager(PeerIndex{0}, {7, 8}, {}) == Post::done);
    CHECK(take_all(*two[0]) == std::vector<std::uint64_t>{7});
}

TEST_CASE("shm: 128 ranks that all know each other touch at most 64 MiB", "[transports]") {
    const ShmArea area(128);
    Endpoints endpoints = open_all(area);
    for (std::uint32_t from = 0; from < 128; ++from) {
        for (std::uint32_t to = 0; to < 128; ++to) {
            const std::array<std::byte, 8> bytes{};
            REQUIRE(endpoints[from]->post_eager(PeerIndex{to}, {from, 0}, bytes) == Post::done);
        }
    }
    for (auto& endpoint : endpoints) CHECK(take_all(*endpoint).size() == 128);
    CHECK(area.touched_bytes() <= 64 * 1024 * 1024);
}

TEST_CASE("shm: small messages that are taken at once stay in the first pages", "[transports]") {
    const ShmArea area(2);
    Endpoints endpoints = open_all(area);
    const std::vector<std::byte> bytes(1000);
    for (std::uint64_t n = 0; n < 1000; ++n) {
        REQUIRE(endpoints[0]->post_eager(PeerIndex{1}, {n, 0}, bytes_of(bytes)) == Post::done);
        REQUIRE(take_all(*endpoints[1]) == std::vector<std::uint64_t>{n});
    }
    CHECK(area.touched_bytes() <= 8 * 4096);
}

TEST_CASE("shm: payload is handed out in place and stays until the next poll", "[transports]") {
    const ShmArea area(2);
    Endpoints endpoints = open_all(area);
    const std::vector<std::byte> small(33, std::byte{3});
    const std::vector<std::byte> large(5000, std::byte{4});
    REQUIRE(endpoints[0]->post_eager(PeerIndex{1}, {1, 0}, bytes_of(small)) == Post::done);
    REQUIRE(endpoints[0]->post_eager(PeerIndex{1}, {2, 0}, bytes_of(large)) == Post::done);
    std::array<Arrival, 4> arrivals;
    REQUIRE(endpoints[1]->poll(arrivals) == 2);
    // The sender fills everything that it may fill.
    const std::vector<std::byte> other(8000, std::byte{9});
    while (endpoints[0]->post_eager(PeerIndex{1}, {3, 0}, bytes_of(other)) == Post::done) {}
    while (endpoints[0]->post_eager(PeerIndex{1}, {3, 0}, {}) == Post::done) {}
    for (std::size_t i = 0; i < 2; ++i) {
        const std::vector<std::byte>& sent = i == 0 ? small : large;
        const Bytes got = arrivals[i].payload;
        CHECK(std::equal(got.begin(), got.end(), sent.begin(), sent.end()));
        CHECK(got.data() >= area.area().data());
        CHECK(got.data() < area.area().data() + area.area().size());
    }
}

TEST_CASE("shm: a peer that takes no fragments leaves cells to the others", "[transports]") {
    const ShmArea area(34);
    Endpoints endpoints = open_all(area);
    const std::vector<std::byte> bytes(60'000, std::byte{1});
    for (std::uint32_t to = 1; to < 33; ++to) {
        std::uint64_t posted = 0;
        while (endpoints[0]->post_fragment(PeerIndex{to}, {posted, 0}, bytes_of(bytes), {}) ==
               Post::done) {
            ++posted;
        }
        CHECK(posted >= 1);
    }
    // Nobody took anything; the last one still gets its whole message.
    std::array<Arrival, 4> arrivals;
    for (std::uint64_t n = 0; n < 50; ++n) {
        Post post = Post::busy;
        for (int tries = 0; tries < 3 && post == Post::busy; ++tries) {
            post = endpoints[0]->post_fragment(PeerIndex{33}, {n, 0}, bytes_of(bytes), {});
            static_cast<void>(endpoints[33]->poll(arrivals));
        }
        REQUIRE(post == Post::done);
    }
}

TEST_CASE("shm: an endpoint can be closed and opened again on the same area", "[transports]") {
    const ShmArea area(2);
    const std::vector<std::byte> bytes(3000, std::byte{5});
    for (std::uint64_t session = 0; session < 40; ++session) {
        Endpoints endpoints = open_all(area);
        // Odd sessions send enough to move to the large ring, and leave some of it behind.
        const std::uint64_t count = session % 2 == 0 ? 3 : 25;
        for (std::uint64_t n = 0; n < count; ++n) {
            const Bytes payload = n % 5 == 0 ? bytes_of(bytes) : Bytes{};
            REQUIRE(endpoints[0]->post_eager(PeerIndex{1}, {session, n}, payload) == Post::done);
        }
        std::array<Arrival, 1> arrivals;
        for (std::uint64_t n = 0; n < 2; ++n) {
            REQUIRE(endpoints[1]->poll(arrivals) == 1);
            CHECK(arrivals[0].header == MessageHeader{session, n});
        }
        if (session % 3 == 0) {
            const std::vector<std::uint64_t> rest = take_all(*endpoints[1]);
            CHECK(rest == std::vector<std::uint64_t>(count - 2, session));
        }
    }
}

TEST_CASE("shm: what a faster peer sends for the next session waits for it", "[transports]") {
    const ShmArea area(2);
    Endpoints endpoints = open_all(area);
    REQUIRE(endpoints[0]->post_eager(PeerIndex{1}, {1, 1}, {}) == Post::done);
    endpoints[0].reset();
    endpoints[0] = area.open(0);
    REQUIRE(endpoints[0]->post_eager(PeerIndex{1}, {2, 2}, {}) == Post::done);
    CHECK(take_all(*endpoints[1]) == std::vector<std::uint64_t>{1});
    CHECK_FALSE(endpoints[1]->has_work());
    endpoints[1].reset();
    endpoints[1] = area.open(1);
    CHECK(take_all(*endpoints[1]) == std::vector<std::uint64_t>{2});
}

TEST_CASE("shm: every post rings, and descriptors are written when bells say so", "[transports]") {
    const ShmArea area(2);
    std::vector<std::uint32_t> written;
    shm::Options options = area.options(0);
    options.write_doorbell_descriptor = [&](std::uint32_t rank) { written.push_back(rank); };
    const std::unique_ptr<Endpoint> sender = *shm::open_endpoint(options);
    const std::vector<std::byte> bytes(5000);
    for (int kind = 0; kind < 3; ++kind) {
        area.doorbells()[1].announce_sleep(SleepKind::descriptor);
        Post post = Post::busy;
        if (kind == 0) post = sender->post_eager(PeerIndex{1}, {}, {});
        if (kind == 1) post = sender->post_eager(PeerIndex{1}, {}, bytes_of(bytes));
        if (kind == 2) post = sender->post_fragment(PeerIndex{1}, {}, bytes_of(bytes), {});
        CHECK(post == Post::done);
        CHECK(written == std::vector<std::uint32_t>(static_cast<std::size_t>(kind) + 1, 1u));
    }
}

TEST_CASE("shm: a receiver that sleeps between messages misses none", "[transports]") {
    const ShmArea area(2);
    Endpoints endpoints = open_all(area);
    constexpr std::uint64_t messages = 5000;
    std::thread receiver([&] {
        Doorbell& bell = area.doorbells()[1];
        std::array<Arrival, 4> arrivals;
        for (std::uint64_t received = 0; received < messages;) {
            received += endpoints[1]->poll(arrivals);
            if (endpoints[1]->has_work()) continue;
            bell.announce_sleep(SleepKind::futex);
            if (received == messages || endpoints[1]->has_work()) {
                bell.cancel_sleep();
            } else {
                bell.sleep_futex(-1);
            }
        }
    });
    for (std::uint64_t n = 0; n < messages;) {
        if (endpoints[0]->post_eager(PeerIndex{1}, {n, 0}, {}) == Post::done) {
            ++n;
        } else {
            std::this_thread::yield();
        }
    }
    receiver.join();
    CHECK_FALSE(endpoints[1]->has_work());
}

TEST_CASE(
    "shm: a sender that sleeps because a post was busy is woken when there is room", "[transports]"
) {
    const std::size_t size = GENERATE(std::size_t{0}, std::size_t{7000}, std::size_t{60'000});
    const auto fence = GENERATE(as<RingFence>(), RingFence::full, register_ring_fence());
    const ShmArea area(3);
    Endpoints endpoints;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        shm::Options options = area.options(rank);
        options.ring_fence = fence;
        area.doorbells()[rank].adopt(fence);
        endpoints.push_back(*shm::open_endpoint(options));
    }
    constexpr std::uint64_t messages = 1000;
    std::thread sender([&] {
        const std::vector<std::byte> bytes(size, std::byte{6});
        Doorbell& bell = area.doorbells()[0];
        for (std::uint64_t n = 0; n < messages;) {
            // First: what it learns of room is for the post that comes next.
            static_cast<void>(endpoints[0]->poll({}));
            const Post post = size > 8000
                                  ? endpoints[0]->post_fragment(
                                        PeerIndex{1}, {n, 0}, bytes_of(bytes), {}
                                    )
                                  : endpoints[0]->post_eager(PeerIndex{1}, {n, 0}, bytes_of(bytes));
            if (post == Post::done) {
                ++n;
                continue;
            }
            bell.announce_sleep(SleepKind::futex);
            if (endpoints[0]->has_work()) {
                bell.cancel_sleep();
            } else {
                bell.sleep_futex(-1);
            }
        }
    });
    std::array<Arrival, 4> arrivals;
    std::uint64_t received = 0;
    while (received < messages) {
        const std::size_t count = endpoints[1]->poll(arrivals);
        received += count;
        if (count == 0) std::this_thread::yield();
    }
    sender.join();
    CHECK(received == messages);
}

TEST_CASE("shm: one that chatters does not starve thirty others", "[transports]") {
    const ShmArea area(32);
    Endpoints endpoints = open_all(area);
    std::array<Arrival, 4> arrivals;
    for (std::uint32_t from = 1; from < 32; ++from) {
        REQUIRE(endpoints[from]->post_eager(PeerIndex{0}, {from, 0}, {}) == Post::done);
    }
    std::array<bool, 32> is_heard{};
    int polls = 0;
    for (std::size_t heard = 0; heard < 31 && polls < 500; ++polls) {
        while (endpoints[1]->post_eager(PeerIndex{0}, {1, 0}, {}) == Post::done) {}
        const std::size_t count = endpoints[0]->poll(arrivals);
        for (std::size_t i = 0; i < count; ++i) {
            bool& is_known = is_heard[static_cast<std::uint32_t>(arrivals[i].peer)];
            heard += is_known ? 0 : 1;
            is_known = true;
        }
    }
    CHECK(polls < 200);
}

}  // namespace dlrt::testing
