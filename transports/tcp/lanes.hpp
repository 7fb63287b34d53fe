// SPDX-License-Identifier: Apache-2.0
/// Which further connections to a peer make sense: as many as are wanted for each interface of this
/// host that leads to it. Pure but for find_source().
#pragma once

#include "runtime/connect/interfaces.hpp"
#include "transports/tcp/tcp.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::tcp {

/// The address of this host that a connection to there would have. Sends nothing. None: no route.
[[nodiscard]] std::optional<SocketAddress> find_source(const SocketAddress& target);

struct LaneWish {
    Ends first;                 ///< Of the connection that is there.
    std::uint32_t sockets = 1;  ///< Over each interface, with that one.
};
/// Of a peer's addresses one behind each interface, bridges and loopback left out, as often as a
/// connection is to be made to it. REQUIRES: wish.sockets is 1..sockets_per_network_max.
[[nodiscard]] std::vector<SocketAddress> choose_lanes(
    const LaneWish& wish, const std::vector<SocketAddress>& of_peer,
    const std::vector<InterfaceAddress>& present,
    const std::function<std::optional<SocketAddress>(const SocketAddress&)>& source_of
);

}  // namespace dlrt::tcp
