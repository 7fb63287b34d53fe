// SPDX-License-Identifier: Apache-2.0
/// Frames over a stream between head and daemon, in the event loop. Whatever carries the stream (a
/// socket pair, ssh's pipes, a connection whose bytes are sealed) stays below this class.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/frame.hpp"
#include "launcher/link_cipher.hpp"
#include "launcher/stream.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::launcher {

class Channel {
  public:
    struct Handlers {
        std::function<void(Frame&&)> on_frame;
        /// Once: the other side is gone, or sent what is no frame.
        std::function<void(std::string reason)> on_closed;
    };

    /// `cipher`: null where nobody else can read or write the stream.
    Channel(
        EventLoop& loop, Stream stream, Handlers handlers,
        std::unique_ptr<LinkCipher> cipher = nullptr
    );

    /// Never blocks; frames leave in order. Without effect once the channel is closed.
    void send(const Frame& frame) { send_encoded(encode_frame(frame)); }
    void send_encoded(Bytes frame);
    /// Writes what is queued, waiting so long for the other side if need be.
    void flush_blocking(int limit_ms);
    void close();
    [[nodiscard]] bool is_open() const { return watch_.is_open(); }

  private:
    void read();
    void take_frames();
    void flush();
    void fail_with(std::string reason);
    [[nodiscard]] DescriptorWatch& output_watch() {
        return own_output_ != nullptr ? *own_output_ : watch_;
    }

    EventLoop& loop_;
    DescriptorWatch watch_;
    std::unique_ptr<DescriptorWatch> own_output_;  ///< Null where one socket carries both.
    Handlers handlers_;
    std::unique_ptr<LinkCipher> cipher_;
    std::vector<std::byte> input_;   ///< Begins with a frame that isn't complete.
    std::vector<std::byte> output_;  ///< As the stream carries it.
    std::size_t output_sent_ = 0;
    bool is_flush_due_ = false;
};

}  // namespace dlrt::launcher
