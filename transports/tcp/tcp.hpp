// SPDX-License-Identifier: Apache-2.0
/// Messages over TCP to processes on other hosts.
///
/// Connections are made when they are first needed, by whoever needs them; a peer's addresses are
/// tried all at once, and the first that leads to a process which knows the job's secret is taken.
/// Two that connect to each other at the same time may each keep the connection it made: what one
/// peer is sent goes over one, and both are read. What is long is read out of the sender's memory
/// (post_get: a request, and the bytes from there straight into the target), so the sender must
/// make progress.
#pragma once

#include "transports/tcp/opening.hpp"
#include "transports/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace dlrt::tcp {

struct Options {
    Identity identity;  ///< Numbers are those of PeerIndex.
    Listener listener;
    /// None: not known yet; then it is asked again at a later post.
    std::function<std::optional<std::vector<SocketAddress>>(std::uint32_t peer)> addresses_of;
    std::uint32_t connect_timeout_ms = 20'000;
};

/// A peer that can't be reached any more: what was said to it is lost.
struct Loss {
    std::uint32_t peer = 0;
    std::string reason;  ///< With both ends' addresses.
};

class TcpEndpoint : public Endpoint {
  public:
    /// What hasn't been said before.
    [[nodiscard]] virtual std::optional<Loss> take_loss() = 0;
};

/// Errors: Errc::system.
[[nodiscard]] Result<std::unique_ptr<TcpEndpoint>> open_endpoint(Options options);

}  // namespace dlrt::tcp
