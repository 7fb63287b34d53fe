// SPDX-License-Identifier: Apache-2.0
/// Reads the user's terminal for the rank that gets the input. Ranks are in process groups of their
/// own, which the terminal would stop if they read it themselves. It is only touched while dlrun is
/// in the foreground.
#pragma once

#include "launcher/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace dlrt::launcher {

class TerminalInput {
  public:
    /// Empty at the end of the input.
    using OnBytes = std::function<void(std::vector<std::byte> bytes)>;

    TerminalInput(EventLoop& loop, OnBytes on_bytes)
        : loop_(loop), foreground_timer_(loop), on_bytes_(std::move(on_bytes)) {}

    /// Returns whether descriptor 0 can be read as a terminal.
    bool start();
    /// So much has arrived at the rank.
    void taken(std::uint64_t size_bytes);
    void stop();

  private:
    void wait();
    void read();

    EventLoop& loop_;
    Timer foreground_timer_;
    OnBytes on_bytes_;
    std::unique_ptr<DescriptorWatch> terminal_;
    std::size_t under_way_bytes_ = 0;
    bool is_waiting_ = false;
};

}  // namespace dlrt::launcher
