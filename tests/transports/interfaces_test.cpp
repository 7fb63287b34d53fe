// SPDX-License-Identifier: Apache-2.0
/// Which addresses are told to other hosts.
#include "runtime/connect/interfaces.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::tcp {
namespace {

using Catch::Contains;
using Texts = std::vector<std::string>;

InterfaceAddress at(std::string interface, std::string_view host) {
    InterfaceAddress one;
    one.interface = std::move(interface);
    one.address = *make_address(host, 0);
    one.is_loopback = one.interface == "lo";
    one.is_bridge = one.interface == "docker0";
    return one;
}

const std::vector<InterfaceAddress> host = {
    at("lo", "127.0.0.1"),   at("lo", "::1"),       at("docker0", "172.17.0.1"),
    at("eth0", "10.77.0.1"), at("eth0", "fd77::1"), at("eth0", "fe80::1"),
    at("eth1", "10.78.0.1"),
};

Texts chosen(
    std::string_view rules, Family family = Family::any,
    const std::vector<InterfaceAddress>& present = host
) {
    const auto addresses = choose_addresses(present, rules, family, 4000);
    if (!addresses) return {"error"};
    Texts texts;
    for (const SocketAddress& address : *addresses) texts.push_back(address.text());
    return texts;
}

}  // namespace

TEST_CASE("interfaces: all but loopback and link-local ones, bridges last", "[transports]") {
    CHECK(
        chosen("") == Texts{"10.77.0.1:4000", "[fd77::1]:4000", "10.78.0.1:4000", "172.17.0.1:4000"}
    );
    CHECK(chosen("", Family::ipv4) == Texts{"10.77.0.1:4000", "10.78.0.1:4000", "172.17.0.1:4000"});
    CHECK(chosen("", Family::ipv6) == Texts{"[fd77::1]:4000"});
}

TEST_CASE("interfaces: names and networks are taken or left out", "[transports]") {
    CHECK(chosen("eth1") == Texts{"10.78.0.1:4000"});
    CHECK(chosen("^docker0") == Texts{"10.77.0.1:4000", "[fd77::1]:4000", "10.78.0.1:4000"});
    CHECK(chosen("10.0.0.0/8") == Texts{"10.77.0.1:4000", "10.78.0.1:4000"});
    CHECK(chosen("10.76.0.0/15") == Texts{"10.77.0.1:4000"});
    CHECK(chosen("^10.0.0.0/8,^172.16.0.0/12") == Texts{"[fd77::1]:4000"});
    CHECK(chosen("^eth1,10.0.0.0/8") == Texts{"10.77.0.1:4000"});
    CHECK(chosen("fd77::/16") == Texts{"[fd77::1]:4000"});
    CHECK(chosen("lo", Family::ipv4) == Texts{"127.0.0.1:4000"});
    CHECK(chosen("^absent").size() == 4);
}

TEST_CASE("interfaces: loopback is told where there is nothing else", "[transports]") {
    CHECK(chosen("", Family::any, {at("lo", "127.0.0.1")}) == Texts{"127.0.0.1:4000"});
    CHECK(chosen("", Family::any, {}).empty());
}

TEST_CASE("interfaces: a wrong word names what is there", "[transports]") {
    for (const char* wrong : {"eth9", "10.0.0.0/33", "^10.0.0.0/33", "10.0.0/8"}) {
        CHECK(choose_addresses(host, wrong, Family::any, 1).error().code == Errc::argument);
        CHECK_THAT(last_error_text(), Contains("eth0 (10.77.0.1)"));
    }
    CHECK(choose_addresses(host, "192.168.0.0/16", Family::any, 1).error().code == Errc::argument);
    CHECK_THAT(last_error_text(), Contains("that leaves no address"));
}

TEST_CASE("interfaces: this host has some that are up", "[transports]") {
    const auto present = find_interface_addresses();
    CHECK(std::ranges::any_of(present, [](const auto& one) { return one.is_loopback; }));
}

}  // namespace dlrt::tcp
