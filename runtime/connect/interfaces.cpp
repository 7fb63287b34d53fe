// SPDX-License-Identifier: Apache-2.0
#include "runtime/connect/interfaces.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::tcp {
namespace {

/// More than any host needs; what is published of a rank stays short.
constexpr std::size_t told_max = 16;

struct Network {
    std::array<std::uint8_t, sizeof(in6_addr)> bytes{};
    std::size_t size_bytes = 0;
    unsigned prefix_bits = 0;
};
struct Rule {
    std::string_view text;
    bool is_excluded = false;
    std::optional<Network> network;  ///< Else it is a name.
};

std::span<const std::uint8_t> host_bytes(const SocketAddress& address) {
    if (address.storage.ss_family == AF_INET) {
        const auto& place = reinterpret_cast<const sockaddr_in&>(address.storage);
        return {reinterpret_cast<const std::uint8_t*>(&place.sin_addr), sizeof place.sin_addr};
    }
    const auto& place = reinterpret_cast<const sockaddr_in6&>(address.storage);
    return {reinterpret_cast<const std::uint8_t*>(&place.sin6_addr), sizeof place.sin6_addr};
}

/// "10.0.0.0/8", or one address.
std::optional<Network> parse_network(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto address = make_address(text.substr(0, slash), 0);
    if (!address) return std::nullopt;
    const auto bytes = host_bytes(*address);
    Network network;
    std::ranges::copy(bytes, network.bytes.begin());
    network.size_bytes = bytes.size();
    network.prefix_bits = static_cast<unsigned>(bytes.size() * 8);
    if (slash == text.size()) return network;
    const std::string_view prefix = text.substr(slash + 1);
    unsigned bits = 0;
    const auto [stop, error] = std::from_chars(prefix.data(), prefix.data() + prefix.size(), bits);
    const bool is_number = error == std::errc{} && stop == prefix.data() + prefix.size();
    if (!is_number || bits > network.prefix_bits) return std::nullopt;
    network.prefix_bits = bits;
    return network;
}

bool is_in(const Network& network, const SocketAddress& address) {
    const auto bytes = host_bytes(address);
    if (bytes.size() != network.size_bytes) return false;
    for (unsigned bit = 0; bit < network.prefix_bits; ++bit) {
        const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
        if (((bytes[bit / 8] ^ network.bytes[bit / 8]) & mask) != 0) return false;
    }
    return true;
}

std::vector<Rule> parse_rules(std::string_view text) {
    std::vector<Rule> rules;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        std::string_view item = text.substr(begin, comma - begin);
        begin = comma + 1;
        Rule rule;
        rule.is_excluded = item.starts_with('^');
        if (rule.is_excluded) item.remove_prefix(1);
        rule.text = item;
        rule.network = parse_network(item);
        rules.push_back(rule);
    }
    return rules;
}

bool covers(const Rule& rule, const InterfaceAddress& present) {
    return rule.network ? is_in(*rule.network, present.address) : rule.text == present.interface;
}

bool is_family(Family family, const SocketAddress& address) {
    if (family == Family::any) return true;
    return (family == Family::ipv4) == (address.storage.ss_family == AF_INET);
}

bool is_link_local(const SocketAddress& address) {
    if (address.storage.ss_family != AF_INET6) return false;
    const auto& place = reinterpret_cast<const sockaddr_in6&>(address.storage);
    return IN6_IS_ADDR_LINKLOCAL(&place.sin6_addr);
}

SocketAddress with_port(SocketAddress address, std::uint16_t port) {
    // Both families have it at the same place.
    reinterpret_cast<sockaddr_in&>(address.storage).sin_port = htons(port);
    return address;
}

/// "eth0 (10.0.0.1), lo (127.0.0.1)"
std::string describe(const std::vector<InterfaceAddress>& present) {
    std::string text;
    for (const InterfaceAddress& one : present) {
        std::string address = one.address.text();
        address.resize(address.rfind(':'));
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", one.interface, address);
    }
    return text.empty() ? "none" : text;
}

Status check_names(
    const std::vector<Rule>& rules, const std::vector<InterfaceAddress>& present,
    std::string_view text
) {
    for (const Rule& rule : rules) {
        const bool is_known = rule.network || std::ranges::any_of(present, [&](const auto& one) {
                                  return one.interface == rule.text;
                              });
        // What is excluded may be absent on some hosts.
        if (is_known || (rule.is_excluded && !rule.text.empty() &&
                         rule.text.find('/') == std::string_view::npos)) {
            continue;
        }
        return fail(
            Errc::argument,
            "DLRT_TCP_INTERFACES={}: '{}' is no interface that is up here, and no network such as "
            "10.0.0.0/8; there are {}",
            text, rule.text, describe(present)
        );
    }
    return {};
}

}  // namespace

std::vector<InterfaceAddress> find_interface_addresses() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
    std::vector<InterfaceAddress> found;
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        constexpr unsigned needed = IFF_UP | IFF_RUNNING;
        if (entry->ifa_addr == nullptr || (entry->ifa_flags & needed) != needed) continue;
        const int family = entry->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        InterfaceAddress one;
        one.interface = entry->ifa_name;
        one.address.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        std::memcpy(&one.address.storage, entry->ifa_addr, one.address.length);
        one.address = with_port(one.address, 0);
        one.is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
        const std::string bridge = fmt::format("/sys/class/net/{}/bridge", one.interface);
        one.is_bridge = ::access(bridge.c_str(), F_OK) == 0;
        found.push_back(std::move(one));
    }
    return found;
}

Result<std::vector<SocketAddress>> choose_addresses(
    const std::vector<InterfaceAddress>& present, std::string_view rules_text, Family family,
    std::uint16_t port
) {
    const std::vector<Rule> rules = parse_rules(rules_text);
    if (Status status = check_names(rules, present, rules_text); !status.ok()) return status;
    const bool has_named = std::ranges::any_of(rules, [](const Rule& r) { return !r.is_excluded; });
    std::vector<SocketAddress> chosen, of_bridges, of_loopback;
    for (const InterfaceAddress& one : present) {
        if (!is_family(family, one.address) || is_link_local(one.address)) continue;
        const auto rule = std::ranges::find_if(rules, [&](const Rule& r) {
            return covers(r, one);
        });
        const bool is_named = rule != rules.end() && !rule->is_excluded;
        if (rule == rules.end() ? has_named : rule->is_excluded) continue;
        const bool is_last_resort = one.is_loopback && !is_named;
        auto& group = is_last_resort ? of_loopback : one.is_bridge ? of_bridges : chosen;
        group.push_back(with_port(one.address, port));
    }
    chosen.insert(chosen.end(), of_bridges.begin(), of_bridges.end());
    if (chosen.empty()) chosen = std::move(of_loopback);
    if (chosen.empty() && !rules.empty()) {
        return fail(
            Errc::argument, "DLRT_TCP_INTERFACES={}: that leaves no address; there are {}",
            rules_text, describe(present)
        );
    }
    if (chosen.size() > told_max) chosen.resize(told_max);
    return chosen;
}

}  // namespace dlrt::tcp
