// SPDX-License-Identifier: Apache-2.0
#include "runtime/connect/address.hpp"

#include "runtime/base/byte_io.hpp"
#include "runtime/base/error_text.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>

#include <fmt/format.h>

namespace dlrt::tcp {
namespace {

constexpr std::size_t address_count_max = 64;
constexpr int backlog = 1024;

SocketAddress from_ipv4(const in_addr& host, std::uint16_t port) {
    SocketAddress address;
    auto& place = reinterpret_cast<sockaddr_in&>(address.storage);
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr = host;
    address.length = sizeof place;
    return address;
}

SocketAddress from_ipv6(const in6_addr& host, std::uint16_t port) {
    SocketAddress address;
    auto& place = reinterpret_cast<sockaddr_in6&>(address.storage);
    place.sin6_family = AF_INET6;
    place.sin6_port = htons(port);
    place.sin6_addr = host;
    address.length = sizeof place;
    return address;
}

template<typename GetName>
std::string end_of(int socket, GetName get_name) {
    SocketAddress address;
    address.length = sizeof address.storage;
    auto* const place = reinterpret_cast<sockaddr*>(&address.storage);
    return get_name(socket, place, &address.length) == 0 ? address.text() : "?";
}

/// An IPv6 socket takes IPv4 connections too, where `family` is any.
Result<Fd> open_listener(Family family) {
    constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    Fd listener(family == Family::ipv4 ? -1 : ::socket(AF_INET6, kind, 0));
    if (listener.is_open()) {
        const int is_ipv6_only = family == Family::ipv6 ? 1 : 0;
        ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &is_ipv6_only, sizeof is_ipv6_only);
        return listener;
    }
    if (family != Family::ipv6) listener.reset(::socket(AF_INET, kind, 0));
    if (listener.is_open()) return listener;
    return fail_errno(errno, "cannot make a TCP socket");
}

int domain_of(int socket) {
    int domain = AF_INET;
    socklen_t length = sizeof domain;
    ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length);
    return domain;
}

bool listen_at(int socket, std::uint16_t port) {
    const SocketAddress address = domain_of(socket) == AF_INET6
                                      ? from_ipv6(in6addr_any, port)
                                      : from_ipv4(in_addr{htonl(INADDR_ANY)}, port);
    // Connections of a job that has ended keep a port of a range for a minute otherwise. Another
    // one that listens there is still in the way.
    const int allow = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &allow, sizeof allow);
    return ::bind(socket, address.get(), address.length) == 0 && ::listen(socket, backlog) == 0;
}

std::uint16_t port_of(int socket) {
    SocketAddress address;
    address.length = sizeof address.storage;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length);
    // Both families have it at the same place.
    return ntohs(reinterpret_cast<const sockaddr_in&>(address.storage).sin_port);
}

}  // namespace

std::string SocketAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> host{};
    if (storage.ss_family == AF_INET) {
        const auto& place = reinterpret_cast<const sockaddr_in&>(storage);
        ::inet_ntop(AF_INET, &place.sin_addr, host.data(), host.size());
        return fmt::format("{}:{}", host.data(), ntohs(place.sin_port));
    }
    const auto& place = reinterpret_cast<const sockaddr_in6&>(storage);
    if (IN6_IS_ADDR_V4MAPPED(&place.sin6_addr)) {
        ::inet_ntop(AF_INET, &place.sin6_addr.s6_addr[12], host.data(), host.size());
        return fmt::format("{}:{}", host.data(), ntohs(place.sin6_port));
    }
    ::inet_ntop(AF_INET6, &place.sin6_addr, host.data(), host.size());
    return fmt::format("[{}]:{}", host.data(), ntohs(place.sin6_port));
}

std::optional<SocketAddress> make_address(std::string_view host, std::uint16_t port) {
    const std::string text(host);
    in_addr ipv4{};
    if (::inet_pton(AF_INET, text.c_str(), &ipv4) == 1) return from_ipv4(ipv4, port);
    in6_addr ipv6{};
    if (::inet_pton(AF_INET6, text.c_str(), &ipv6) == 1) return from_ipv6(ipv6, port);
    return std::nullopt;
}

std::vector<std::byte> encode_addresses(const std::vector<SocketAddress>& addresses) {
    ByteWriter writer;
    for (const SocketAddress& address : addresses) {
        if (address.storage.ss_family == AF_INET) {
            const auto& place = reinterpret_cast<const sockaddr_in&>(address.storage);
            writer.number(ntohs(place.sin_port));
            writer.blob(std::as_bytes(std::span(&place.sin_addr, 1)));
        } else {
            const auto& place = reinterpret_cast<const sockaddr_in6&>(address.storage);
            writer.number(ntohs(place.sin6_port));
            writer.blob(std::as_bytes(std::span(&place.sin6_addr, 1)));
        }
    }
    return writer.take();
}

Result<std::vector<SocketAddress>> decode_addresses(Bytes bytes) {
    ByteReader reader(bytes);
    std::vector<SocketAddress> addresses;
    while (reader.ok() && !reader.is_at_end() && addresses.size() <= address_count_max) {
        const auto port = reader.number<std::uint16_t>();
        const std::vector<std::byte> host = reader.blob();
        if (host.size() == sizeof(in_addr)) {
            in_addr ipv4{};
            std::memcpy(&ipv4, host.data(), sizeof ipv4);
            addresses.push_back(from_ipv4(ipv4, port));
        } else if (host.size() == sizeof(in6_addr)) {
            in6_addr ipv6{};
            std::memcpy(&ipv6, host.data(), sizeof ipv6);
            addresses.push_back(from_ipv6(ipv6, port));
        } else {
            break;
        }
    }
    if (!reader.is_at_end() || addresses.size() > address_count_max) {
        return fail(Errc::wireup, "{} bytes are no list of addresses", bytes.size());
    }
    return addresses;
}

std::string own_end_of(int socket) {
    return end_of(socket, ::getsockname);
}
std::string other_end_of(int socket) {
    return end_of(socket, ::getpeername);
}

Result<Listener> listen_anywhere(Family family, PortRange ports) {
    // A socket whose bind failed can be bound again; one that listens can't.
    for (std::uint32_t port = ports.first; port <= ports.last; ++port) {
        Result<Fd> socket = open_listener(family);
        if (!socket) return socket.error();
        if (!listen_at(socket->get(), static_cast<std::uint16_t>(port))) continue;
        const std::uint16_t found = port_of(socket->get());
        return Listener{std::move(*socket), found};
    }
    if (ports.first == 0) return fail_errno(errno, "cannot listen on a TCP port");
    return fail_errno(
        errno, "no TCP port of {} to {} is free to listen on; choose others with DLRT_TCP_PORTS",
        ports.first, ports.last
    );
}

}  // namespace dlrt::tcp
