// SPDX-License-Identifier: Apache-2.0
/// Where a process listens for others, as a value: an IPv4 or IPv6 address with a port.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace dlrt::tcp {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t length = 0;

    [[nodiscard]] const sockaddr* get() const {
        return reinterpret_cast<const sockaddr*>(&storage);
    }
    /// "10.0.0.1:4000", "[fd77::1]:4000".
    [[nodiscard]] std::string text() const;
};

/// None: it is no numeric address.
[[nodiscard]] std::optional<SocketAddress> make_address(std::string_view host, std::uint16_t port);

/// For other hosts: all of them, in the order of preference.
[[nodiscard]] std::vector<std::byte> encode_addresses(const std::vector<SocketAddress>& addresses);
/// Errors: Errc::wireup for any bytes that encode_addresses can't have made.
[[nodiscard]] Result<std::vector<SocketAddress>> decode_addresses(Bytes bytes);

/// Where this socket is, or the one at its other end; "?" where the system doesn't say.
[[nodiscard]] std::string own_end_of(int socket);
[[nodiscard]] std::string other_end_of(int socket);

struct Listener {
    Fd socket;
    std::uint16_t port = 0;
};
enum class Family : std::uint8_t { any, ipv4, ipv6 };
struct PortRange {
    std::uint16_t first = 0;  ///< 0: whichever is free.
    std::uint16_t last = 0;
};
/// On all of the host's addresses of the family. Errors: Errc::system, with the range.
[[nodiscard]] Result<Listener> listen_anywhere(Family family, PortRange ports);

}  // namespace dlrt::tcp
