// SPDX-License-Identifier: Apache-2.0
/// A connection on its way: from a socket that connects, or that somebody has connected, to one
/// whose other end has proved to be a process of the job. Never blocks; whoever owns it calls
/// advance() when the socket is ready for what it waits for, and gives up on it after a time.
#pragma once

#include "runtime/connect/address.hpp"
#include "runtime/connect/handshake.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace dlrt::tcp {

/// Who this process is among those it speaks with.
struct Identity {
    std::uint32_t own = 0;
    std::uint32_t count = 1;
    Secret secret{};
};

class Opening {
  public:
    enum class State : std::uint8_t { waiting, established, failed };

    /// Begins to connect to that process.
    [[nodiscard]] static Opening to(
        const Identity& identity, std::uint32_t peer, const SocketAddress& address
    );
    /// Of a socket that accept() gave.
    [[nodiscard]] static Opening from(const Identity& identity, Fd socket);

    State advance();
    /// Waits to write, until it is connected; then to read.
    [[nodiscard]] bool wants_to_write() const { return step_ == Step::connect; }
    [[nodiscard]] int socket() const { return socket_.get(); }
    [[nodiscard]] bool is_own() const { return is_own_; }
    /// Known from the beginning of one's own, else once established.
    [[nodiscard]] std::uint32_t peer() const { return is_own_ ? hello_.owner : hello_.opener; }
    [[nodiscard]] const std::string& reason() const { return reason_; }
    /// Of one's own: where to.
    [[nodiscard]] const std::string& target() const { return target_; }
    /// Whether the other end is there, and may take its time.
    [[nodiscard]] bool is_patient() const {
        return step_ == Step::await_challenge || step_ == Step::await_proof;
    }
    /// Of one's own that failed: whether the other end has closed it before it has proved anything.
    /// It may have been short of places, so another try may do.
    [[nodiscard]] bool was_turned_away() const { return was_turned_away_; }
    /// It has taken too long.
    void give_up(std::uint64_t after_ms);
    /// REQUIRES: established. Known to both ends of this connection, and to nobody else.
    [[nodiscard]] Secret session_secret() const;
    [[nodiscard]] Fd take_socket() { return std::move(socket_); }

  private:
    enum class Step : std::uint8_t { connect, await_hello, await_challenge, await_proof, over };

    explicit Opening(const Identity& identity) : identity_(&identity) {}
    State connected();
    State answer_hello();
    State answer_challenge();
    State check_proof();
    State fail_because(std::string reason);
    [[nodiscard]] bool write(Bytes bytes);
    /// Whether so many bytes are there; sets the reason when they never will be.
    [[nodiscard]] bool have_read(std::size_t size_bytes);

    const Identity* identity_;
    Fd socket_;
    bool is_own_ = false;
    bool was_turned_away_ = false;
    Step step_ = Step::over;
    Hello hello_;
    Nonce owner_nonce_{};
    std::array<std::byte, challenge_bytes> input_{};
    std::size_t input_bytes_ = 0;
    std::string target_;
    std::string reason_;
};

}  // namespace dlrt::tcp
