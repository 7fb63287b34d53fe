// SPDX-License-Identifier: Apache-2.0
/// Messages over TCP to processes on other hosts.
///
/// Connections are made when they are first needed, by whoever needs them; a peer's addresses are
/// tried all at once, and the first that leads to a process which knows the job's secret is taken.
/// Two that connect to each other at the same time may each keep the connection it made: what one
/// peer is sent goes over one, and both are read. Where the way leads in one direction only, the
/// other end is asked to connect, if somebody can pass that on. What is long is read out of the
/// sender's memory (post_get: a request, and the bytes from there straight into the target), so the
/// sender must make progress. Such data is spread over several connections where several interfaces
/// of this host lead to the peer, or several are wanted; a message is lost with any of them.
#pragma once

#include "runtime/connect/opening.hpp"
#include "transports/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace dlrt::tcp {

/// Of a connection, as own_end_of() and other_end_of() write them.
struct Ends {
    std::string own, other;
};

struct Options {
    Identity identity;  ///< Numbers are those of PeerIndex.
    Listener listener;
    /// None: not known yet; then it is asked again at a later post.
    std::function<std::optional<std::vector<SocketAddress>>(std::uint32_t peer)> addresses_of;
    /// Asks the peer to connect to this process, which can't connect to it; or tells one that has
    /// asked for that why it isn't possible. False: there is no way to do so. Unset: the same.
    std::function<bool(std::uint32_t peer, const std::string& failure)> connect_back;
    struct ConnectBack {
        std::uint32_t peer;
        std::string failure;  ///< Empty: it asks to be connected to.
    };
    /// What a peer has said so; asked often.
    std::function<std::optional<ConnectBack>()> take_connect_back;
    /// Becomes readable when addresses_of() and take_connect_back() may know more; take_news()
    /// reads from it then. -1: never.
    int news_descriptor = -1;
    std::function<void()> take_news;
    /// To connect. A process that is connected to may take as long as it likes to say something:
    /// it may be computing.
    std::uint32_t connect_timeout_ms = 20'000;
    /// A loss that the peer hasn't announced is kept back so long: whoever looks after the
    /// processes of its host may say first what became of it.
    std::uint32_t loss_delay_ms = 0;
    /// Nobody else tells of peers that have gone, so those that are waited for are connected to.
    bool watches_awaited = false;
    /// What other hosts have been told of this process; for messages.
    std::vector<SocketAddress> own_addresses;
    /// To each peer over each network.
    std::uint32_t sockets = 1;
    /// To which of a peer's addresses further connections make sense, beside the one with these
    /// ends. Unset: choose_lanes() of this host's interfaces.
    std::function<
        std::vector<SocketAddress>(const Ends& first, const std::vector<SocketAddress>& of_peer)>
        lanes_of;
};

/// How a process goes.
enum class Parting : std::uint8_t {
    finished,  ///< Nobody needs it any more.
    early,     ///< To others it is a loss.
};

class TcpEndpoint : public Endpoint {
  public:
    /// Says goodbye and waits until what was sent has reached the other hosts, at most so long.
    /// Nothing may be called afterwards. The one function that waits.
    virtual void part(Parting parting, std::uint32_t timeout_ms) = 0;
    /// In a child that the process forked: closes all sockets, without a word to anybody. Only
    /// system calls.
    virtual void abandon() noexcept = 0;
};

/// Errors: Errc::system.
[[nodiscard]] Result<std::unique_ptr<TcpEndpoint>> open_endpoint(Options options);

}  // namespace dlrt::tcp
