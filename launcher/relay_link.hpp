// SPDX-License-Identifier: Apache-2.0
/// One of a relay's links: frames to and from whoever is at its other end, and whether that one is
/// alive. In the event loop.
#pragma once

#include "launcher/channel.hpp"
#include "launcher/liveness.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace dlrt::launcher {

class RelayLink {
  public:
    struct Handlers {
        /// All but signs of life.
        std::function<void(Frame&&)> on_frame;
        /// Once: it is closed, or silent and still open. Not after close().
        std::function<void(std::string reason)> on_lost;
    };

    RelayLink(
        EventLoop& loop, Stream stream, std::unique_ptr<LinkCipher> cipher,
        std::uint64_t heartbeat_ms, Handlers handlers
    );

    void send(const Frame& frame) { channel_.send(frame); }
    void send_encoded(Bytes frame) { channel_.send_encoded(frame); }
    [[nodiscard]] bool is_open() const { return channel_.is_open(); }
    /// It has a right to be silent until it is heard again.
    void excuse() { life_.excuse(); }
    void flush_blocking(int limit_ms) { channel_.flush_blocking(limit_ms); }
    void close();

  private:
    void lose(std::string reason);

    Handlers handlers_;
    Channel channel_;
    Liveness life_;
};

}  // namespace dlrt::launcher
