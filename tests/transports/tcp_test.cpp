// SPDX-License-Identifier: Apache-2.0
/// What TCP alone has to do: strangers, proofs, addresses that lead nowhere, and connections that
/// end.
#include "tests/transports/tcp_network.hpp"
#include "transports/tcp/wire.hpp"

#include <cstring>
#include <poll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

namespace dlrt::testing {
namespace {

using Catch::Matchers::Contains;

/// Polls all of them until `is_over`, or fails.
template<typename IsOver>
void poll_until(TcpNetwork& network, IsOver is_over) {
    const std::uint64_t begin_ns = monotonic_ns();
    while (!is_over()) {
        for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
            static_cast<void>(network.endpoint(rank).poll({}));
        }
        REQUIRE(monotonic_ns() - begin_ns < TcpNetwork::limit_ns);
    }
}

Fd connect_to(const tcp::SocketAddress& address) {
    Fd socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(socket.get(), address.get(), address.length) == 0);
    return socket;
}

void write_all(int socket, Bytes bytes) {
    REQUIRE(
        ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(bytes.size())
    );
}

/// The other end answers nothing but its challenge, and then closes.
bool is_closed(int socket) {
    std::array<std::byte, 256> bytes;
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

}  // namespace

TEST_CASE("tcp: a greeting is what was written, and of this version only", "[transports]") {
    const tcp::Hello hello{3, 9, tcp::new_nonce()};
    auto bytes = tcp::encode(hello);
    CHECK(tcp::decode_hello(bytes) == hello);
    for (const std::size_t place : {std::size_t{0}, std::size_t{7}, std::size_t{8}}) {
        auto changed = bytes;
        changed[place] ^= std::byte{1};
        CHECK_FALSE(tcp::decode_hello(changed).has_value());
    }
    const tcp::Challenge challenge{tcp::new_nonce(), {}};
    CHECK(tcp::decode_challenge(tcp::encode(challenge)) == challenge);
}

TEST_CASE("tcp: a proof holds for one side, one pair, one pair of nonces, one secret") {
    const tcp::Secret secret = secret_of('k');
    const tcp::Hello hello{1, 2, tcp::new_nonce()};
    const tcp::Nonce nonce = tcp::new_nonce();
    const tcp::ProofBytes proof = prove(secret, tcp::Side::owner, hello, nonce);
    CHECK(is_proof(secret, tcp::Side::owner, hello, nonce, proof));
    CHECK_FALSE(is_proof(secret, tcp::Side::opener, hello, nonce, proof));
    CHECK_FALSE(is_proof(secret, tcp::Side::owner, hello, tcp::new_nonce(), proof));
    CHECK_FALSE(is_proof(secret_of('l'), tcp::Side::owner, hello, nonce, proof));
    CHECK_FALSE(is_proof(secret, tcp::Side::owner, {2, 1, hello.nonce}, nonce, proof));
    CHECK_FALSE(is_proof(secret, tcp::Side::owner, {1, 2, tcp::new_nonce()}, nonce, proof));
}

TEST_CASE("tcp: addresses as text and as bytes", "[transports]") {
    CHECK(tcp::make_address("10.77.0.3", 4000)->text() == "10.77.0.3:4000");
    CHECK(tcp::make_address("fd77::1", 65535)->text() == "[fd77::1]:65535");
    CHECK_FALSE(tcp::make_address("h1", 1).has_value());
    const std::vector<tcp::SocketAddress> both = {
        *tcp::make_address("127.0.1.1", 1), *tcp::make_address("::1", 2)};
    const std::vector<std::byte> bytes = tcp::encode_addresses(both);
    // A port and a counted host each.
    CHECK(bytes.size() == 2 + 4 + 4 + 2 + 4 + 16);
    const auto decoded = tcp::decode_addresses(bytes);
    REQUIRE(decoded);
    REQUIRE(decoded->size() == 2);
    CHECK((*decoded)[0].text() == "127.0.1.1:1");
    CHECK((*decoded)[1].text() == "[::1]:2");
    for (std::size_t size = 1; size < bytes.size(); ++size) {
        if (size != 10) CHECK_FALSE(tcp::decode_addresses(Bytes(bytes).first(size)));
    }
}

TEST_CASE("tcp: a range of ports is kept, and its end is told", "[transports]") {
    auto any = tcp::listen_anywhere(tcp::Family::any, {});
    REQUIRE(any);
    const std::uint16_t port = any->port;
    CHECK(port != 0);
    const auto taken = tcp::listen_anywhere(tcp::Family::any, {port, port});
    REQUIRE_FALSE(taken);
}

TEST_CASE("tcp: strangers get nothing, and the job goes on", "[transports]") {
    TcpNetwork network(2);
    const tcp::SocketAddress target = network.addresses(1)[0];
    const Fd silent = connect_to(target);
    const Fd garbage = connect_to(target);
    write_all(garbage.get(), std::vector<std::byte>(tcp::hello_bytes, std::byte{0xff}));
    const Fd half = connect_to(target);
    const auto hello = tcp::encode(tcp::Hello{0, 1, tcp::new_nonce()});
    write_all(half.get(), Bytes(hello).first(20));
    // Says that it is rank 0, and can't prove it.
    const Fd liar = connect_to(target);
    write_all(liar.get(), hello);
    write_all(liar.get(), std::vector<std::byte>(tcp::proof_bytes, std::byte{0x42}));
    // And one that looks for another rank, and one of a rank that isn't there.
    const Fd lost = connect_to(target);
    write_all(lost.get(), tcp::encode(tcp::Hello{1, 0, tcp::new_nonce()}));
    const Fd unknown = connect_to(target);
    write_all(unknown.get(), tcp::encode(tcp::Hello{7, 1, tcp::new_nonce()}));
    network.connect_all();
    std::array<std::byte, tcp::challenge_bytes> challenge;
    poll_until(network, [&] {
        const bool has_challenge = ::recv(
                                       liar.get(), challenge.data(), challenge.size(),
                                       MSG_DONTWAIT | MSG_PEEK
                                   ) == static_cast<ssize_t>(challenge.size());
        return has_challenge && is_closed(garbage.get()) && is_closed(lost.get()) &&
               is_closed(unknown.get());
    });
    REQUIRE(::recv(liar.get(), challenge.data(), challenge.size(), 0) > 0);
    poll_until(network, [&] { return is_closed(liar.get()); });
    CHECK_FALSE(is_closed(silent.get()));
    CHECK_FALSE(network.endpoint(1).take_loss());
    network.say(0, 1, 5);
}

TEST_CASE("tcp: a recorded greeting proves nothing the next time", "[transports]") {
    TcpNetwork network(2);
    const tcp::SocketAddress target = network.addresses(1)[0];
    const tcp::Hello hello{0, 1, tcp::new_nonce()};
    std::array<std::byte, tcp::challenge_bytes> bytes;
    const auto greet = [&] {
        Fd socket = connect_to(target);
        write_all(socket.get(), tcp::encode(hello));
        poll_until(network, [&] {
            return ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) ==
                   static_cast<ssize_t>(bytes.size());
        });
        return socket;
    };
    const Fd first = greet();
    const auto proof = prove(
        secret_of('s'), tcp::Side::opener, hello, tcp::decode_challenge(bytes).nonce
    );
    write_all(first.get(), proof);
    const Fd again = greet();
    write_all(again.get(), proof);
    poll_until(network, [&] { return is_closed(again.get()); });
    CHECK_FALSE(is_closed(first.get()));
}

TEST_CASE("tcp: a process with another secret is not spoken to", "[transports]") {
    TcpNetwork network(2);
    network.replace(1, secret_of('x'));
    std::optional<Loss> loss;
    CHECK(network.endpoint(0).post_eager(PeerIndex{1}, {}, {}) == Post::busy);
    poll_until(network, [&] { return (loss = network.endpoint(0).take_loss()).has_value(); });
    CHECK(loss->peer == PeerIndex{1});
    CHECK_THAT(loss->reason, Contains("cannot be reached at 127.0.0.1:"));
    CHECK_THAT(loss->reason, Contains("doesn't know this job's secret"));
}

TEST_CASE("tcp: of several addresses the one that works is taken", "[transports]") {
    TcpNetwork network(2);
    auto nobody = tcp::listen_anywhere(tcp::Family::any, {});
    const std::uint16_t port = nobody->port;
    nobody->socket.reset();
    std::vector<tcp::SocketAddress>& addresses = network.addresses(1);
    addresses.insert(addresses.begin(), *tcp::make_address("127.0.0.1", port));
    // Nothing answers there: for documentation, RFC 5737.
    addresses.insert(addresses.begin(), *tcp::make_address("192.0.2.1", 9));
    network.say(0, 1, 5);
    CHECK_FALSE(network.endpoint(0).take_loss());
    network.say(1, 0, 6);
}

TEST_CASE("tcp: all addresses that led nowhere are told, each with its reason", "[transports]") {
    TcpNetwork network(2);
    auto nobody = tcp::listen_anywhere(tcp::Family::any, {});
    const std::uint16_t port = nobody->port;
    nobody->socket.reset();
    network.addresses(1) = {
        *tcp::make_address("127.0.0.1", port), *tcp::make_address("127.0.0.2", port)};
    std::optional<Loss> loss;
    CHECK(network.endpoint(0).post_eager(PeerIndex{1}, {}, {}) == Post::busy);
    poll_until(network, [&] { return (loss = network.endpoint(0).take_loss()).has_value(); });
    CHECK_THAT(loss->reason, Contains("127.0.0.1:" + std::to_string(port) + " (Connection refus"));
    CHECK_THAT(loss->reason, Contains("127.0.0.2:" + std::to_string(port) + " (Connection refus"));
    CHECK_THAT(loss->reason, Contains("this process is at 192.0.2.77:4000"));
    CHECK_THAT(loss->reason, Contains("--iface"));
    std::array<std::byte, 8> target;
    CHECK(network.endpoint(0).post_get(PeerIndex{1}, {}, target, {}) == Post::refused);
}

/// Two of which neither, or just the second, finds the other.
void make_unreachable(TcpNetwork& network, bool is_second_too) {
    auto nobody = tcp::listen_anywhere(tcp::Family::any, {});
    const tcp::SocketAddress closed = *tcp::make_address("127.0.0.1", nobody->port);
    nobody->socket.reset();
    network.can_connect_back = true;
    for (const std::uint32_t rank : {0u, 1u}) network.replace(rank, secret_of('s'));
    network.addresses(1) = {closed};
    if (is_second_too) network.addresses(0) = {closed};
}

TEST_CASE("tcp: a peer that can't be reached is asked to connect") {
    TcpNetwork network(2);
    make_unreachable(network, false);
    network.say(0, 1, 5);
    network.say(1, 0, 6);
    CHECK(network.connect_backs[0].empty());
    CHECK_FALSE(network.endpoint(0).take_loss());
    CHECK_FALSE(network.endpoint(1).take_loss());
}

TEST_CASE("tcp: both directions' failures are told, and only to who needs the other") {
    TcpNetwork network(2);
    make_unreachable(network, true);
    std::optional<Loss> loss;
    CHECK(network.endpoint(0).post_eager(PeerIndex{1}, {}, {}) == Post::busy);
    poll_until(network, [&] { return (loss = network.endpoint(0).take_loss()).has_value(); });
    CHECK_THAT(loss->reason, Contains("it cannot be reached at 127.0.0.1:"));
    CHECK_THAT(loss->reason, Contains("and it cannot connect to here: it cannot be reached at"));
    CHECK_FALSE(network.endpoint(1).take_loss());
    // Who needs the first from now on is told at once that it has given up.
    CHECK(network.endpoint(1).post_eager(PeerIndex{0}, {}, {}) == Post::busy);
    poll_until(network, [&] { return (loss = network.endpoint(1).take_loss()).has_value(); });
    CHECK_THAT(loss->reason, Contains("it has given this process up"));
}

TEST_CASE("tcp: two that ask each other in vain both hear of it") {
    TcpNetwork network(2);
    make_unreachable(network, true);
    for (const std::uint32_t rank : {0u, 1u}) {
        CHECK(network.endpoint(rank).post_eager(PeerIndex{1 - rank}, {}, {}) == Post::busy);
    }
    for (const std::uint32_t rank : {0u, 1u}) {
        std::optional<Loss> loss;
        poll_until(network, [&] {
            return (loss = network.endpoint(rank).take_loss()).has_value();
        });
        CHECK_THAT(loss->reason, Contains("and it cannot connect to here"));
    }
}

TEST_CASE("tcp: a peer that is watched is missed, though nothing is ever sent to it") {
    TcpNetwork network(2);
    CHECK_FALSE(network.endpoint(0).is_time_to_watch());
    network.endpoint(0).watch(PeerIndex{1});
    // It may take its time.
    const std::uint64_t begin_ns = monotonic_ns();
    while (monotonic_ns() - begin_ns < 100'000'000) static_cast<void>(network.endpoint(0).poll({}));
    CHECK_FALSE(network.endpoint(0).take_loss());
    network.replace(1, secret_of('s'));
    std::optional<Loss> loss;
    poll_until(network, [&] { return (loss = network.endpoint(0).take_loss()).has_value(); });
    CHECK(loss->peer == PeerIndex{1});
    CHECK_THAT(loss->reason, Contains("cannot be reached at 127.0.0.1:"));
}

TEST_CASE("tcp: the time to watch comes again and again, and wakes a sleeper") {
    TcpNetwork network(2);
    network.watches_awaited = true;
    network.replace(0, secret_of('s'));
    tcp::TcpEndpoint& endpoint = network.endpoint(0);
    CHECK_FALSE(endpoint.is_time_to_watch());
    for (int round = 0; round < 2; ++round) {
        pollfd sleeper{endpoint.capabilities().sleep_descriptor, POLLIN, 0};
        REQUIRE(::poll(&sleeper, 1, 20'000) == 1);
        poll_until(network, [&] { return endpoint.is_time_to_watch(); });
        CHECK_FALSE(endpoint.is_time_to_watch());
    }
}

TEST_CASE("tcp: two that connect to each other at once lose nothing", "[transports]") {
    for (int round = 0; round < 20; ++round) {
        TcpNetwork network(2);
        std::array<std::uint64_t, 2> sent{}, got{};
        poll_until(network, [&] {
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                tcp::TcpEndpoint& endpoint = network.endpoint(rank);
                const MessageHeader header{sent[rank], rank};
                if (sent[rank] < 5 &&
                    endpoint.post_eager(PeerIndex{1 - rank}, header, {}) == Post::done) {
                    ++sent[rank];
                }
                std::array<Arrival, 2> arrivals;
                const std::size_t count = endpoint.poll(arrivals);
                for (std::size_t i = 0; i < count; ++i) {
                    CHECK(arrivals[i].header == MessageHeader{got[rank], 1 - rank});
                    ++got[rank];
                }
            }
            return got[0] == 5 && got[1] == 5;
        });
    }
}

TEST_CASE("tcp: when a peer has gone, what waits for it fails, with both addresses") {
    TcpNetwork network(2);
    network.connect_all();
    std::vector<std::byte> target(1 << 20);
    const std::vector<std::byte> memory(target.size());
    const RemoteMemory source = network.endpoint(1).describe(memory);
    tcp::TcpEndpoint& endpoint = network.endpoint(0);
    REQUIRE(endpoint.post_get(PeerIndex{1}, source, target, OperationId{3}) == Post::pending);
    network.replace(1, secret_of('s'));
    std::array<Completion, 1> completions;
    poll_until(network, [&] { return endpoint.poll_completions(completions) == 1; });
    CHECK(completions[0].id == OperationId{3});
    CHECK(completions[0].status.code == Errc::peer_lost);
    const auto loss = endpoint.take_loss();
    REQUIRE(loss);
    CHECK_THAT(loss->reason, Contains("the connection from 127.0.0.1:"));
    CHECK_THAT(loss->reason, Contains(" to 127.0.0.1:"));
}

TEST_CASE("tcp: who looks after a process has time to say first what became of it") {
    TcpNetwork network(2);
    network.loss_delay_ms = 300;
    network.replace(0, secret_of('s'));
    network.connect_all();
    const std::uint64_t begin_ns = monotonic_ns();
    network.replace(1, secret_of('s'));
    tcp::TcpEndpoint& endpoint = network.endpoint(0);
    std::optional<Loss> loss;
    poll_until(network, [&] { return (loss = endpoint.take_loss()).has_value(); });
    CHECK(monotonic_ns() - begin_ns >= 300'000'000);
    CHECK_THAT(loss->reason, Contains("the other end has closed it"));
    // Of one that says that it leaves all is known.
    network.loss_delay_ms = 15'000;
    network.replace(0, secret_of('s'));
    network.connect_all();
    network.endpoint(1).part(tcp::Parting::early, 1000);
    const std::uint64_t left_ns = monotonic_ns();
    while (!network.endpoint(0).take_loss()) {
        static_cast<void>(network.endpoint(0).poll({}));
        REQUIRE(monotonic_ns() - left_ns < 14'000'000'000);
    }
}

TEST_CASE("tcp: memory is read only by who has got its address", "[transports]") {
    TcpNetwork network(2);
    network.connect_all();
    std::vector<std::byte> target(64);
    const std::vector<std::byte> memory(64);
    RemoteMemory source = network.endpoint(1).describe(memory);
    source.key ^= 1;
    tcp::TcpEndpoint& endpoint = network.endpoint(0);
    REQUIRE(endpoint.post_get(PeerIndex{1}, source, target, OperationId{4}) == Post::pending);
    std::array<Completion, 1> completions;
    poll_until(network, [&] { return endpoint.poll_completions(completions) == 1; });
    CHECK(completions[0].status.code == Errc::peer_lost);
    CHECK_THAT(network.endpoint(1).take_loss()->reason, Contains("it asks for unknown memory"));
}

TEST_CASE("tcp: a process that computes for longer than connecting may take is waited for") {
    TcpNetwork network(2, 50);
    tcp::TcpEndpoint& endpoint = network.endpoint(0);
    const std::uint64_t begin_ns = monotonic_ns();
    while (monotonic_ns() - begin_ns < 200'000'000) {
        REQUIRE(endpoint.post_eager(PeerIndex{1}, {}, {}) == Post::busy);
        REQUIRE(endpoint.poll({}) == 0);
        REQUIRE_FALSE(endpoint.take_loss());
    }
    network.say(0, 1, 5);
    network.say(1, 0, 6);
}

TEST_CASE("tcp: more strangers than there are places keep nobody out", "[transports]") {
    TcpNetwork network(2);
    const tcp::SocketAddress target = network.addresses(1)[0];
    std::vector<Fd> strangers;
    for (int i = 0; i < 400; ++i) strangers.push_back(connect_to(target));
    network.say(0, 1, 5);
    CHECK_FALSE(network.endpoint(1).take_loss());
}

TEST_CASE("tcp: frames that can't be end their connection only", "[transports]") {
    struct Frame {
        tcp::FrameHeader header;
        const char* reason;
    };
    const Frame frame = GENERATE(
        Frame{{0xffffffff, tcp::FrameKind::message, 0, 0}, "no frame"},
        Frame{{0, tcp::FrameKind{77}, 0, 0}, "no frame"},
        Frame{{8, tcp::FrameKind::goodbye, 1, 0}, "no frame"},
        Frame{{16, tcp::FrameKind::data, 99, 0}, "nobody asked for"}
    );
    TcpNetwork network(3);
    network.say(0, 1, 5);
    const Fd socket = connect_to(network.addresses(1)[0]);
    const tcp::Hello hello{2, 1, tcp::new_nonce()};
    write_all(socket.get(), tcp::encode(hello));
    std::array<std::byte, tcp::challenge_bytes> bytes;
    poll_until(network, [&] {
        return ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) ==
               static_cast<ssize_t>(bytes.size());
    });
    write_all(
        socket.get(),
        prove(secret_of('s'), tcp::Side::opener, hello, tcp::decode_challenge(bytes).nonce)
    );
    write_all(socket.get(), std::as_bytes(std::span(&frame.header, 1)));
    std::optional<Loss> loss;
    poll_until(network, [&] { return (loss = network.endpoint(1).take_loss()).has_value(); });
    CHECK(loss->peer == PeerIndex{2});
    CHECK_THAT(loss->reason, Contains(frame.reason));
    network.say(1, 0, 6);
}

TEST_CASE("tcp: who parts is heard out", "[transports]") {
    const auto parting = GENERATE(tcp::Parting::finished, tcp::Parting::early);
    TcpNetwork network(2);
    network.connect_all();
    constexpr std::uint64_t count = 100;
    const std::vector<std::byte> payload(1000);
    for (std::uint64_t i = 0; i < count; ++i) {
        REQUIRE(network.endpoint(0).post_eager(PeerIndex{1}, {i, 0}, payload) == Post::done);
    }
    // What is said to it meanwhile takes nothing away.
    REQUIRE(network.endpoint(1).post_eager(PeerIndex{0}, {}, payload) == Post::done);
    network.endpoint(0).part(parting, 10'000);
    network.replace(0, secret_of('s'));
    static_cast<void>(network.endpoint(1).post_eager(PeerIndex{0}, {}, payload));
    std::uint64_t got = 0;
    std::array<Arrival, 8> arrivals;
    poll_until(network, [&] {
        const std::size_t arrived = network.endpoint(1).poll(arrivals);
        for (std::size_t i = 0; i < arrived; ++i) CHECK(arrivals[i].header.first == got++);
        return got == count;
    });
    if (parting == tcp::Parting::finished) {
        for (int i = 0; i < 1000; ++i) static_cast<void>(network.endpoint(1).poll({}));
        CHECK_FALSE(network.endpoint(1).take_loss());
        return;
    }
    std::optional<Loss> loss;
    poll_until(network, [&] { return (loss = network.endpoint(1).take_loss()).has_value(); });
    CHECK_THAT(loss->reason, Contains("has left"));
}

}  // namespace dlrt::testing
