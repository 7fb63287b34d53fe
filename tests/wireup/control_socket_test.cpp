// SPDX-License-Identifier: Apache-2.0
/// Control sockets: messages and descriptors there and back, time limits, peers that are gone.
#include "runtime/wireup/control_socket.hpp"

#include "runtime/base/error_text.hpp"

#include <array>
#include <fcntl.h>
#include <set>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

struct Pair {
    Fd first, second;
};

Pair make_pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

TEST_CASE("control socket: a message arrives with its descriptors, close-on-exec", "[wireup]") {
    const Pair pair = make_pair();
    const Fd bell(::eventfd(41, EFD_CLOEXEC));
    const std::array<int, 2> descriptors = {bell.get(), pair.first.get()};
    REQUIRE(send_message(pair.first.get(), Welcome{5}, descriptors).ok());
    const auto received = receive_message(pair.second.get(), 1000);
    REQUIRE(received.has_value());
    CHECK(received->message == ControlMessage{Welcome{5}});
    REQUIRE(received->descriptors.size() == 2);
    std::uint64_t value = 0;
    CHECK(::read(received->descriptors[0].get(), &value, sizeof value) == sizeof value);
    CHECK(value == 41);
    CHECK((::fcntl(received->descriptors[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("control socket: silence ends in a timeout, a closed end in an error", "[wireup]") {
    Pair pair = make_pair();
    CHECK(receive_message(pair.second.get(), 20).error().code == Errc::timeout);
    pair.first.reset();
    CHECK(receive_message(pair.second.get(), -1).error().code == Errc::wireup);
    CHECK(send_message(pair.second.get(), Finalized{}).code == Errc::wireup);
    CHECK(send_message(-1, Finalized{}).code == Errc::wireup);
}

TEST_CASE("control socket: what was sent arrives though its sender left mail unread", "[wireup]") {
    Pair pair = make_pair();
    REQUIRE(send_message(pair.first.get(), Finalized{}).ok());
    REQUIRE(send_message(pair.second.get(), Welcome{5}).ok());
    pair.first.reset();
    const auto received = receive_message(pair.second.get(), 1000);
    REQUIRE(received.has_value());
    CHECK(received->message == ControlMessage{Finalized{}});
    CHECK(receive_message(pair.second.get(), 1000).error().code == Errc::wireup);
}

TEST_CASE("control socket: noise is an error", "[wireup]") {
    const Pair pair = make_pair();
    REQUIRE(::send(pair.first.get(), "noise", 5, 0) == 5);
    CHECK(receive_message(pair.second.get(), 1000).error().code == Errc::wireup);
}

TEST_CASE("control socket: an abstract name is found, and by one listener only", "[wireup]") {
    const std::string name = "dlrt-test-" + *random_hex(8);
    CHECK(connect_abstract(name).error().code == Errc::wireup);
    const auto listener = listen_abstract(name);
    REQUIRE(listener.has_value());
    CHECK(listen_abstract(name).error().code == Errc::system);
    const auto client = connect_abstract(name);
    REQUIRE(client.has_value());
    const auto served = accept_connection(listener->get(), 1000);
    REQUIRE(served.has_value());
    CHECK(is_same_user(served->get()));
    CHECK(peer_credentials(client->get())->pid == ::getpid());
    REQUIRE(send_message(client->get(), GetDoorbell{3}).ok());
    const auto received = receive_message(served->get(), 1000);
    CHECK(received->message == ControlMessage{GetDoorbell{3}});
    CHECK(accept_connection(listener->get(), 10).error().code == Errc::timeout);
}

TEST_CASE("control socket: names that don't fit are refused", "[wireup]") {
    CHECK_FALSE(listen_abstract("").has_value());
    CHECK_FALSE(listen_abstract(std::string(108, 'x')).has_value());
    CHECK_FALSE(connect_abstract(std::string(200, 'x')).has_value());
}

TEST_CASE("control socket: secrets are long, different and compared whole", "[wireup]") {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(*random_hex(32));
    CHECK(seen.size() == 100);
    CHECK(seen.begin()->size() == 64);
    CHECK(is_equal_secret("abc", "abc"));
    CHECK_FALSE(is_equal_secret("abc", "abd"));
    CHECK_FALSE(is_equal_secret("abc", "abcd"));
    CHECK(is_equal_secret("", ""));
}

}  // namespace dlrt
