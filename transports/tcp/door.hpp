// SPDX-License-Identifier: Apache-2.0
/// Connections on their way, in both directions: accepts, connects to all addresses of a peer at
/// once, and gives up after a time. Whoever owns it watches one descriptor and calls advance().
#pragma once

#include "runtime/connect/opening.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlrt::tcp {

class Door {
  public:
    struct Opened {
        std::uint32_t peer = 0;
        Fd socket;
        bool is_lane = false;  ///< That was asked for here.
    };
    /// A peer to which nothing led, and why.
    struct Closed {
        std::uint32_t peer = 0;
        std::string reason;
    };
    struct Outcome {
        std::vector<Opened> opened;
        std::vector<Closed> closed;
        std::vector<std::uint32_t> to_ask;  ///< They might connect to here instead.
        std::vector<Closed> refused;        ///< They have asked in vain to be connected to.
    };

    /// `can_ask`: whether a peer that isn't reached can be asked to connect.
    Door(const Identity& identity, Listener listener, std::uint32_t timeout_ms, bool can_ask);
    [[nodiscard]] Status start();

    /// Readable when advance() has something to do.
    [[nodiscard]] int descriptor() const { return events_.get(); }
    void open(std::uint32_t peer, const std::vector<SocketAddress>& addresses);
    /// One more connection to a peer that is reached already. That it can't be made isn't told.
    void open_lane(std::uint32_t peer, const SocketAddress& address);
    /// As open(), for a peer that has asked for it.
    void connect_back(std::uint32_t peer, const std::vector<SocketAddress>& addresses);
    /// A peer that was asked to connect can't.
    void note_no_connect_back(std::uint32_t peer, std::string reason);
    [[nodiscard]] bool is_opening(std::uint32_t peer) const { return calls_.contains(peer); }
    [[nodiscard]] Outcome advance();
    /// In a forked child.
    void close_all() noexcept;

  private:
    /// The attempts to reach one peer.
    struct Call {
        std::size_t attempts = 0;
        std::string reasons;
        std::uint64_t asks_at_ns = 0;  ///< The peer to connect. 0: it has been asked, or never is.
        bool has_asked = false;
        bool is_asked_for = false;  ///< By the peer.
        std::string their_reason;   ///< Why the peer can't connect.
    };
    struct Attempt {
        Opening opening;
        std::uint64_t ends_at_ns = 0;  ///< 0: it may take as long as it likes.
        std::uint64_t number = 0;      ///< Older ones have smaller numbers.
        SocketAddress target{};        ///< Of one's own.
        std::uint32_t tries = 1;
        bool is_lane = false;
    };
    void accept_all();
    void drop_oldest_stranger();
    [[nodiscard]] bool try_again(const Attempt& attempt);
    void watch(const Opening& opening, bool is_new);
    void add(Attempt attempt);
    void advance_one(int socket, Outcome& outcome);
    void conclude(const Attempt& attempt, Outcome& outcome);
    /// All attempts have failed.
    void end_call(std::uint32_t peer, Outcome& outcome);
    void ask(std::uint32_t peer, Call& call, Outcome& outcome);
    void look_at_calls(Outcome& outcome);
    void attempt_all(std::uint32_t peer, Call& call, const std::vector<SocketAddress>& addresses);
    void end_late_ones(Outcome& outcome);
    void drop_other_attempts(std::uint32_t peer);
    void set_timer();

    const Identity& identity_;
    Listener listener_;
    std::uint64_t timeout_ns_;
    bool can_ask_;
    Fd events_;
    Fd timer_;
    std::map<int, Attempt> attempts_;  ///< By socket; those that failed at once below 0.
    int next_failed_ = -1;
    std::uint64_t next_number_ = 0;
    std::map<std::uint32_t, Call> calls_;     ///< By peer.
    std::vector<std::uint32_t> ended_calls_;  ///< Of which advance() has to tell.
    std::size_t stranger_count_ = 0;          ///< Attempts of others.
};

}  // namespace dlrt::tcp
