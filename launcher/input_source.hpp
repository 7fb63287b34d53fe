// SPDX-License-Identifier: Apache-2.0
/// Reads dlrun's input for the ranks that get it from dlrun: a terminal's, or anything that every
/// rank is given. No more than a window of it is on its way to them.
///
/// Ranks are in process groups of their own, which a terminal would stop if they read it
/// themselves. It is only touched while dlrun is in the foreground.
#pragma once

#include "launcher/event_loop.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace dlrt::launcher {

class InputSource {
  public:
    /// Empty at the end of the input.
    using OnBytes = std::function<void(std::vector<std::byte> bytes)>;

    InputSource(EventLoop& loop, OnBytes on_bytes)
        : loop_(loop), timer_(loop), on_bytes_(std::move(on_bytes)) {}

    /// Returns whether descriptor 0 can be read.
    bool start();
    /// So much has arrived at the ranks.
    void taken(std::uint64_t size_bytes);
    /// Nobody wants more. Whoever writes to the input learns it.
    void stop();

  private:
    enum class Way : std::uint8_t {
        terminal,  ///< Opened once more for ourselves, as non-blocking.
        watched,   ///< A pipe, opened likewise.
        direct,    ///< Files: always ready.
        patient,   ///< What can't be opened once more: asked before every read.
    };
    [[nodiscard]] bool is_open() const { return is_started_ && !is_stopped_; }
    [[nodiscard]] int descriptor() { return watch_ == nullptr ? 0 : watch_->get(); }
    void wait();
    void wait_a_while(std::chrono::milliseconds time, void (InputSource::*next)());
    void wait_again();
    void read();
    void read_if_ready();

    EventLoop& loop_;
    Timer timer_;
    OnBytes on_bytes_;
    Way way_ = Way::direct;
    std::unique_ptr<DescriptorWatch> watch_;
    std::size_t under_way_bytes_ = 0;
    bool is_waiting_ = false;
    bool is_started_ = false;
    bool is_stopped_ = false;
};

}  // namespace dlrt::launcher
