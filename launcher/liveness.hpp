// SPDX-License-Identifier: Apache-2.0
/// Whether the other side of a link is still there when nothing needs to be said: sends a beat now
/// and then, and notices when the other side has sent nothing during several of them. In the loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/heartbeat.hpp"

#include <cstdint>
#include <functional>

namespace dlrt::launcher {

class Liveness {
  public:
    struct Handlers {
        std::function<void()> beat;
        /// Once.
        std::function<void()> on_silent;
    };

    Liveness(EventLoop& loop, std::uint64_t heartbeat_ms, Handlers handlers);

    void stop();
    /// The other side has said something.
    void heard();
    /// The other side has a right to be silent until it is heard again.
    void excuse() { is_excused_ = true; }
    [[nodiscard]] std::uint64_t heartbeat_ms() const { return heartbeat_ms_; }

  private:
    void wait();

    Timer timer_;
    std::uint64_t heartbeat_ms_;
    Handlers handlers_;
    std::uint32_t silent_beats_ = 0;
    bool is_excused_ = false;
};

}  // namespace dlrt::launcher
