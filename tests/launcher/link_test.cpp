// SPDX-License-Identifier: Apache-2.0
/// The TCP links of a tree of daemons: a parent's door, a child's way to it, what is sealed between
/// them, and strangers.
#include "launcher/link_cipher.hpp"
#include "launcher/link_dialer.hpp"
#include "launcher/link_door.hpp"
#include "launcher/topology_filter.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/connect/sodium.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::milliseconds moment{300};
using Catch::Matchers::Contains;
using Blob = std::vector<std::byte>;

constexpr std::uint32_t parent = 0;
constexpr std::uint32_t child = 3;
constexpr std::uint32_t member_count = 6;

tcp::Secret secret_of(std::string_view text) {
    REQUIRE(tcp::load_sodium().ok());
    return tcp::derive_secret(text, "test");
}

tcp::Identity identity_of(std::uint32_t member, std::string_view secret = "ours") {
    return {member, member_count, secret_of(secret)};
}

/// A parent that listens, and runs until something has been found out.
struct Parent {
    EventLoop loop;
    Timer limit{loop};
    std::optional<std::uint32_t> came;
    Fd link;
    tcp::Secret session{};
    LinkDoor door{
        loop, identity_of(parent), {child}, [this](auto member, Fd socket, const auto& secret) {
            came = member;
            link = std::move(socket);
            session = secret;
            loop.stop();
        }};

    Parent() { REQUIRE(door.listen({}).ok()); }
    void run_for(std::chrono::milliseconds time) {
        limit.start(time, [this] { loop.stop(); });
        loop.run();
        limit.cancel();
    }
    [[nodiscard]] tcp::SocketAddress address() const {
        return *tcp::make_address("127.0.0.1", door.port());
    }
    [[nodiscard]] Fd connect() const {
        Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const tcp::SocketAddress there = address();
        REQUIRE(::connect(socket.get(), there.get(), there.length) == 0);
        return socket;
    }
};

void write_all(const Fd& socket, Bytes bytes) {
    REQUIRE(
        ::write(socket.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())
    );
}

/// What comes within a moment; nothing once the other end has closed.
Blob read_some(const Fd& socket) {
    pollfd entry{socket.get(), POLLIN, 0};
    if (::poll(&entry, 1, 0) != 1) return {};
    Blob bytes(4096);
    const ssize_t got = ::read(socket.get(), bytes.data(), bytes.size());
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
}

bool is_closed(const Fd& socket) {
    pollfd entry{socket.get(), POLLIN, 0};
    std::byte one{};
    return ::poll(&entry, 1, 0) == 1 && ::read(socket.get(), &one, 1) <= 0;
}

TEST_CASE("links: a child finds its parent behind one of many addresses", "[launcher]") {
    Parent there;
    Fd link;
    tcp::Secret session{};
    LinkDialer dialer(
        there.loop, identity_of(child), parent,
        {*tcp::make_address("127.0.0.1", 1), there.address(), *tcp::make_address("::1", 1)},
        {[&](Fd socket, const tcp::Secret& secret) {
             link = std::move(socket);
             session = secret;
         },
         [](const std::string& reasons) { FAIL(reasons); }}
    );
    dialer.start(std::chrono::seconds(20));
    there.run_for(std::chrono::seconds(20));
    REQUIRE(there.came == child);
    REQUIRE(link.is_open());
    CHECK(session == there.session);
    // Nobody else is expected.
    Fd late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const tcp::SocketAddress address = there.address();
    CHECK(::connect(late.get(), address.get(), address.length) != 0);
}

TEST_CASE("links: what no address leads to is said with all reasons", "[launcher]") {
    EventLoop loop;
    std::string said;
    LinkDialer dialer(
        loop, identity_of(child), parent, {*tcp::make_address("127.0.0.1", 1)},
        {[](Fd, const tcp::Secret&) { FAIL(); },
         [&](std::string reasons) {
             said = std::move(reasons);
             loop.stop();
         }}
    );
    dialer.start(moment);
    loop.run();
    CHECK_THAT(said, Contains("127.0.0.1:1: Connection refused"));
}

TEST_CASE("links: strangers get nothing, and the child comes in beside them", "[launcher]") {
    Parent there;
    std::vector<Fd> strangers;
    const auto add = [&](Bytes bytes) {
        write_all(strangers.emplace_back(there.connect()), bytes);
    };
    const Blob garbage(52, std::byte{0x5a});
    const Blob four_gib = {std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
    add(garbage);
    add(four_gib);
    const auto hello = tcp::encode(tcp::Hello{child, parent, tcp::new_nonce()});
    add(Bytes(hello).first(20));
    // Right in form: without the secret, of another number, to another member, of nobody.
    LinkDialer impostor(
        there.loop, identity_of(child, "theirs"), parent, {there.address()},
        {[](Fd, const tcp::Secret&) { FAIL(); }, [](const std::string&) {}}
    );
    impostor.start(std::chrono::milliseconds(100));
    add(tcp::encode(tcp::Hello{4, parent, tcp::new_nonce()}));
    add(tcp::encode(tcp::Hello{child, 5, tcp::new_nonce()}));
    add(tcp::encode(tcp::Hello{99, parent, tcp::new_nonce()}));
    there.run_for(std::chrono::milliseconds(500));
    CHECK_FALSE(there.came.has_value());
    // Those that said something wrong are gone; half a greeting has its time.
    CHECK(is_closed(strangers[0]));
    CHECK_FALSE(is_closed(strangers[2]));
    CHECK(is_closed(strangers[4]));
    CHECK(is_closed(strangers[5]));

    LinkDialer dialer(
        there.loop, identity_of(child), parent, {there.address()},
        {[](Fd socket, const tcp::Secret&) { static_cast<void>(socket.release()); },
         [](const std::string& reasons) { FAIL(reasons); }}
    );
    dialer.start(std::chrono::seconds(20));
    there.run_for(std::chrono::seconds(20));
    CHECK(there.came == child);
}

TEST_CASE("links: a recorded greeting proves nothing the next time", "[launcher]") {
    // The same parent in all it knows, but for the nonce that it makes up.
    const auto hello = tcp::encode(tcp::Hello{child, parent, tcp::new_nonce()});
    Blob proof;
    {
        Parent there;
        const Fd socket = there.connect();
        write_all(socket, hello);
        there.run_for(moment);
        const Blob answer = read_some(socket);
        REQUIRE(answer.size() == tcp::challenge_bytes);
        const tcp::Challenge challenge = tcp::decode_challenge(
            Bytes(answer).first<tcp::challenge_bytes>()
        );
        const auto own = tcp::prove(
            secret_of("ours"), tcp::Side::opener, *tcp::decode_hello(hello), challenge.nonce
        );
        proof.assign(own.begin(), own.end());
        write_all(socket, proof);
        there.run_for(std::chrono::seconds(20));
        REQUIRE(there.came == child);
    }
    Parent there;
    const Fd socket = there.connect();
    write_all(socket, hello);
    there.run_for(moment);
    CHECK(read_some(socket).size() == tcp::challenge_bytes);
    write_all(socket, proof);
    there.run_for(moment);
    CHECK_FALSE(there.came.has_value());
    CHECK(is_closed(socket));
}

TEST_CASE("links: of too many that wait the oldest go, and the child comes in", "[launcher]") {
    Parent there;
    std::vector<Fd> strangers;
    for (std::size_t i = 0; i < LinkDoor::pending_max + 40; ++i) {
        strangers.push_back(there.connect());
        if (i % 50 == 49) there.run_for(std::chrono::milliseconds(50));
    }
    there.run_for(moment);
    CHECK(there.door.pending_count() == LinkDoor::pending_max);
    CHECK(is_closed(strangers.front()));
    CHECK_FALSE(is_closed(strangers.back()));
    LinkDialer dialer(
        there.loop, identity_of(child), parent, {there.address()},
        {[](Fd socket, const tcp::Secret&) { static_cast<void>(socket.release()); },
         [](const std::string& reasons) { FAIL(reasons); }}
    );
    dialer.start(std::chrono::seconds(20));
    there.run_for(std::chrono::seconds(20));
    CHECK(there.came == child);
}

struct Ciphers {
    tcp::Secret session = secret_of("session");
    LinkCipher opener{session, tcp::Side::opener};
    LinkCipher owner{session, tcp::Side::owner};
};

Blob blob(std::size_t size_bytes) {
    Blob bytes(size_bytes);
    for (std::size_t i = 0; i < size_bytes; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
    return bytes;
}

TEST_CASE("link cipher: what is sealed is opened, however it is cut", "[launcher]") {
    Ciphers both;
    Blob wire, sent, opened;
    for (const std::size_t size_bytes : {1u, 0u, 100u, 65'536u, 65'537u, 200'000u}) {
        const Blob plain = blob(size_bytes);
        sent.insert(sent.end(), plain.begin(), plain.end());
        both.opener.seal(plain, wire);
    }
    std::size_t step = 1;
    for (Bytes left = wire; !left.empty(); step = step * 3 % 1009) {
        const Bytes part = left.first(std::min(step, left.size()));
        REQUIRE(both.owner.open(part, opened).ok());
        left = left.subspan(part.size());
    }
    CHECK(opened == sent);
    CHECK(both.owner.kept_bytes() == 0);
    // The other direction has a key of its own.
    Blob back, read;
    both.owner.seal(blob(10), back);
    CHECK_FALSE(std::search(wire.begin(), wire.end(), back.begin(), back.end()) != wire.end());
    CHECK(both.opener.open(back, read).ok());
    CHECK(read == blob(10));
}

TEST_CASE("link cipher: changed, repeated, swapped and foreign records are refused", "[launcher]") {
    Ciphers both;
    Blob first, second, opened;
    both.opener.seal(blob(50), first);
    both.opener.seal(blob(60), second);
    SECTION("a changed byte, wherever it is") {
        const std::size_t place = GENERATE(0u, 30u, 60u);
        first[place] ^= std::byte{1};
        CHECK_FALSE(both.owner.open(first, opened).ok());
    }
    SECTION("the same again") {
        CHECK(both.owner.open(first, opened).ok());
        CHECK(both.owner.open(second, opened).ok());
        const std::size_t size_bytes = opened.size();
        CHECK_FALSE(both.owner.open(second, opened).ok());
        CHECK(opened.size() == size_bytes);
    }
    SECTION("one left out") {
        Blob third;
        both.opener.seal(blob(60), third);
        CHECK(both.owner.open(first, opened).ok());
        CHECK_FALSE(both.owner.open(third, opened).ok());
    }
    SECTION("its own words") {
        CHECK_FALSE(both.opener.open(first, opened).ok());
    }
    SECTION("of another session") {
        LinkCipher other(secret_of("another"), tcp::Side::owner);
        CHECK_FALSE(other.open(first, opened).ok());
        CHECK(opened.empty());
    }
}

TEST_CASE("link cipher: a length beyond the largest record is refused unread", "[launcher]") {
    Ciphers both;
    Blob wire, opened;
    both.opener.seal(blob(1), wire);
    const std::uint32_t length = GENERATE(0u, 16u, 65'536u + 18u, UINT32_MAX);
    for (int i = 0; i < 4; ++i) wire[24 + i] = static_cast<std::byte>(length >> (8 * i));
    CHECK_FALSE(both.owner.open(wire, opened).ok());
    CHECK(opened.empty());
    CHECK(both.owner.kept_bytes() <= 28);
    CHECK_THAT(std::string(last_error_text()), Contains("bad length"));
}

TEST_CASE("topology filter: identical topologies go up once", "[launcher]") {
    REQUIRE(tcp::load_sodium().ok());
    TopologyFilter lower, upper;
    TopologyStore head;
    const auto facts_of = [](const char* model) {
        HostFacts facts;
        facts.topology.cpu_model = model;
        return facts;
    };
    for (const char* model : {"a", "b", "a", "a", "b"}) {
        HostFacts facts = facts_of(model);
        lower.pass(facts);
        upper.pass(facts);
        head.pass(facts);
        CHECK(facts.topology.cpu_model == model);
    }
    HostFacts again = facts_of("a");
    lower.pass(again);
    CHECK(again.topology == HostTopology());
    CHECK_FALSE(again.topology_digest.empty());
}

}  // namespace
}  // namespace dlrt::launcher
