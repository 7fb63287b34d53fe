// SPDX-License-Identifier: Apache-2.0
/// Which further connections to a peer make sense: one for each other interface of this host that
/// leads to it. Pure but for find_source().
#pragma once

#include "runtime/connect/interfaces.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::tcp {

/// The address of this host that a connection to there would have. Sends nothing. None: no route.
[[nodiscard]] std::optional<SocketAddress> find_source(const SocketAddress& target);

/// Of a peer's addresses those behind other interfaces than the first connection's, whose own end
/// is `own_end` as own_end_of() writes it; one for each interface, bridges and loopback left out.
[[nodiscard]] std::vector<SocketAddress> choose_lanes(
    const std::string& own_end, const std::vector<SocketAddress>& of_peer,
    const std::vector<InterfaceAddress>& present,
    const std::function<std::optional<SocketAddress>(const SocketAddress&)>& source_of
);

}  // namespace dlrt::tcp
