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
    /// None of a peer's addresses led to it.
    struct Closed {
        std::uint32_t peer = 0;
        std::string reason;
    };
    struct Outcome {
        std::vector<Opened> opened;
        std::vector<Closed> closed;
    };

    Door(const Identity& identity, Listener listener, std::uint32_t timeout_ms);
    [[nodiscard]] Status start();

    /// Readable when advance() has something to do.
    [[nodiscard]] int descriptor() const { return events_.get(); }
    void open(std::uint32_t peer, const std::vector<SocketAddress>& addresses);
    /// One more connection to a peer that is reached already. That it can't be made isn't told.
    void open_lane(std::uint32_t peer, const SocketAddress& address);
    [[nodiscard]] bool is_opening(std::uint32_t peer) const { return calls_.contains(peer); }
    [[nodiscard]] Outcome advance();
    /// In a forked child.
    void close_all() noexcept;

  private:
    /// The attempts to reach one peer.
    struct Call {
        std::size_t attempts = 0;
        std::string reasons;
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
    void end_late_ones(Outcome& outcome);
    void drop_other_attempts(std::uint32_t peer);
    void set_timer();

    const Identity& identity_;
    Listener listener_;
    std::uint64_t timeout_ns_;
    Fd events_;
    Fd timer_;
    std::map<int, Attempt> attempts_;  ///< By socket; those that failed at once below 0.
    int next_failed_ = -1;
    std::uint64_t next_number_ = 0;
    std::map<std::uint32_t, Call> calls_;  ///< By peer.
    std::size_t stranger_count_ = 0;       ///< Attempts of others.
};

}  // namespace dlrt::tcp
