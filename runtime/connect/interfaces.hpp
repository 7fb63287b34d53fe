// SPDX-License-Identifier: Apache-2.0
/// Which of a host's addresses are told to other hosts, by DLRT_TCP_INTERFACES. Pure but for
/// find_interface_addresses().
#pragma once

#include "runtime/connect/address.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dlrt::tcp {

/// An address of an interface that is up. Its port is 0.
struct InterfaceAddress {
    std::string interface;
    SocketAddress address;
    bool is_loopback = false;
    bool is_bridge = false;  ///< Often the same address on every host.
};
[[nodiscard]] std::vector<InterfaceAddress> find_interface_addresses();

/// What other hosts are told: the addresses that `rules` name, or don't exclude, of the family,
/// those of bridges last. Loopback only where there is nothing else or it is named; link-local ones
/// of IPv6 never, for they mean something only beside the interface. `rules` is a list of names of
/// interfaces and of networks ("10.0.0.0/8"), each with ^ before it to exclude it; empty: all.
/// Errors: Errc::argument for a name that isn't there, with those that are, and for a list that
/// leaves none.
[[nodiscard]] Result<std::vector<SocketAddress>> choose_addresses(
    const std::vector<InterfaceAddress>& present, std::string_view rules, Family family,
    std::uint16_t port
);

}  // namespace dlrt::tcp
