// SPDX-License-Identifier: Apache-2.0
/// Several connections to one peer: which are made, that data is right whichever way it comes, and
/// that one that ends is the loss of the peer.
#include "tests/transports/tcp_network.hpp"
#include "transports/tcp/lanes.hpp"

#include <cstring>
#include <linux/tcp.h>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

namespace dlrt::testing {
namespace {

using Catch::Matchers::Contains;

constexpr std::uint64_t mib = 1 << 20;

std::uint16_t port_of(const tcp::SocketAddress& address) {
    const std::string text = address.text();
    return static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
}

/// Two whose first connection is at 127.0.0.1, and which may make others at .2 and that address.
class TwoWithLanes {
  public:
    explicit TwoWithLanes(const char* last = "127.0.0.3") {
        network.connect_all();
        const std::uint16_t port = port_of(network.addresses(1)[0]);
        network.lanes = {*tcp::make_address("127.0.0.2", port), *tcp::make_address(last, port)};
    }

    /// Of this process's sockets whose other end is there. Address: descriptor.
    [[nodiscard]] static std::multimap<std::string, int> lane_sockets() {
        std::multimap<std::string, int> found;
        for (int descriptor = 3; descriptor < 256; ++descriptor) {
            const std::string end = tcp::other_end_of(descriptor);
            const std::string host = end.substr(0, end.find(':'));
            if (host == "127.0.0.2" || host == "127.0.0.3") found.emplace(host, descriptor);
        }
        return found;
    }

    /// Both read from each other at once. Returns how many gets have failed.
    std::size_t exchange(std::uint64_t size_bytes) {
        std::size_t failed = 0, over = 0;
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            sources[rank].resize(size_bytes);
            targets[rank].assign(size_bytes, std::byte{0});
            for (std::uint64_t i = 0; i < size_bytes; ++i) {
                sources[rank][i] = static_cast<std::byte>((i * 7 + i / 4099 + rank) & 0xff);
            }
        }
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            const RemoteMemory there = network.endpoint(1 - rank).describe(sources[1 - rank]);
            if (network.endpoint(rank).post_get(
                    PeerIndex{1 - rank}, there, targets[rank], OperationId{rank}
                ) != Post::pending) {
                ++over, ++failed;
            }
        }
        const std::uint64_t begin_ns = monotonic_ns();
        while (over < 2) {
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                std::array<Completion, 2> completions;
                REQUIRE(network.endpoint(rank).poll({}) == 0);
                const std::size_t count = network.endpoint(rank).poll_completions(completions);
                for (std::size_t i = 0; i < count; ++i) failed += !completions[i].status.ok();
                over += count;
            }
            if (on_round) on_round();
            REQUIRE(monotonic_ns() - begin_ns < TcpNetwork::limit_ns);
        }
        return failed;
    }

    TcpNetwork network{2};
    std::array<std::vector<std::byte>, 2> sources, targets;
    std::function<void()> on_round;
};

}  // namespace

TEST_CASE("tcp: long data comes over all lanes, and is what was sent", "[transports]") {
    TwoWithLanes two(GENERATE("127.0.0.2", "127.0.0.3"));
    REQUIRE(two.exchange(mib - 1) == 0);
    CHECK(TwoWithLanes::lane_sockets().empty());
    // The first one asks for the lanes; then they are there.
    for (const std::uint64_t size : {mib, 16 * mib, 24 * mib + 13}) {
        REQUIRE(two.exchange(size) == 0);
        CHECK(two.targets[0] == two.sources[1]);
        CHECK(two.targets[1] == two.sources[0]);
    }
    const auto sockets = TwoWithLanes::lane_sockets();
    REQUIRE(sockets.size() == 2);
    for (const auto& [host, descriptor] : sockets) {
        tcp_info info{};
        socklen_t length = sizeof info;
        REQUIRE(::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0);
        CHECK(info.tcpi_bytes_acked > mib);
        CHECK(info.tcpi_bytes_received > mib);
    }
    two.network.say(0, 1, 5);
    two.network.say(1, 0, 6);
    for (std::uint32_t rank = 0; rank < 2; ++rank)
        CHECK_FALSE(two.network.endpoint(rank).take_loss());
}

TEST_CASE("tcp: a lane that can't be made is done without", "[transports]") {
    TwoWithLanes two;
    two.network.lanes = {*tcp::make_address("127.0.0.2", 1)};
    for (int round = 0; round < 3; ++round) {
        REQUIRE(two.exchange(4 * mib) == 0);
        CHECK(two.targets[0] == two.sources[1]);
    }
    CHECK_FALSE(two.network.endpoint(0).take_loss());
}

TEST_CASE("tcp: with a lane the peer is lost, and what waits for it fails", "[transports]") {
    TwoWithLanes two(GENERATE("127.0.0.2", "127.0.0.3"));
    REQUIRE(two.exchange(mib) == 0);
    REQUIRE(two.exchange(mib) == 0);
    REQUIRE(TwoWithLanes::lane_sockets().size() == 2);
    int rounds = 0;
    two.on_round = [&rounds] {
        if (++rounds == 5) ::shutdown(TwoWithLanes::lane_sockets().begin()->second, SHUT_RDWR);
    };
    CHECK(two.exchange(64 * mib) == 2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        std::optional<Loss> loss;
        const std::uint64_t begin_ns = monotonic_ns();
        while (!(loss = two.network.endpoint(rank).take_loss())) {
            static_cast<void>(two.network.endpoint(rank).poll({}));
            REQUIRE(monotonic_ns() - begin_ns < TcpNetwork::limit_ns);
        }
        CHECK_THAT(loss->reason, Contains("the connection from 127.0.0."));
        CHECK_FALSE(two.network.endpoint(rank).take_loss());
    }
    // Its targets are the caller's again: nothing comes into them any more.
    const auto before = two.targets;
    for (int round = 0; round < 1000; ++round) {
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            static_cast<void>(two.network.endpoint(rank).poll({}));
        }
    }
    CHECK(two.targets == before);
}

TEST_CASE("tcp: there is one lane for each other interface that leads to the peer") {
    const auto address = [](const char* host) { return *tcp::make_address(host, 7); };
    std::vector<tcp::InterfaceAddress> present = {{"lo", address("127.0.0.1"), true, false},
                                                  {"eth0", address("10.77.0.1"), false, false},
                                                  {"eth0", address("fd77::1"), false, false},
                                                  {"eth1", address("10.78.0.1"), false, false},
                                                  {"eth1", address("fd78::1"), false, false},
                                                  {"docker0", address("172.17.0.1"), false, true},
                                                  {"eth2", address("10.79.0.1"), false, false}};
    const auto source_of = [&](const tcp::SocketAddress& target
                           ) -> std::optional<tcp::SocketAddress> {
        const std::string text = target.text();
        for (const auto& one : present) {
            const std::string own = one.address.text();
            if (own.substr(0, 5) == text.substr(0, 5)) return one.address;
        }
        return std::nullopt;
    };
    const std::vector<tcp::SocketAddress> of_peer = {
        address("10.77.0.2"), address("fd77::2"),    address("10.78.0.2"), address("fd78::2"),
        address("10.80.0.2"), address("172.17.0.1"), address("127.0.0.1")};
    std::uint32_t sockets = 1;
    const auto texts = [&](const char* own_end, const char* other_end = "10.77.0.2:4001") {
        std::vector<std::string> found;
        const tcp::LaneWish wish{{own_end, other_end}, sockets};
        for (const auto& lane : tcp::choose_lanes(wish, of_peer, present, source_of)) {
            found.push_back(lane.text());
        }
        return found;
    };
    CHECK(texts("10.77.0.1:4000") == std::vector<std::string>{"10.78.0.2:7"});
    CHECK(texts("[fd77::1]:4000") == std::vector<std::string>{"10.78.0.2:7"});
    CHECK(texts("10.78.0.1:4000") == std::vector<std::string>{"10.77.0.2:7"});
    // Of an interface that has come since.
    CHECK(texts("10.99.0.1:4000").empty());
    sockets = 3;
    CHECK(
        texts("10.77.0.1:4000") ==
        std::vector<std::string>{
            "10.77.0.2:7", "10.77.0.2:7", "10.78.0.2:7", "10.78.0.2:7", "10.78.0.2:7"}
    );
    // It has come from an address that it doesn't tell: no further one will lead there.
    CHECK(
        texts("10.77.0.1:4000", "10.77.0.9:4001") ==
        std::vector<std::string>{"10.78.0.2:7", "10.78.0.2:7", "10.78.0.2:7"}
    );
}

}  // namespace dlrt::testing
