// SPDX-License-Identifier: Apache-2.0
/// Writes to the user's stdout or stderr without ever blocking the event loop on a slow reader, and
/// without making the user's own descriptor non-blocking for everybody who shares it.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/line_merger.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace dlrt::launcher {

class OutputWriter {
  public:
    struct Handlers {
        std::function<void(std::uint32_t rank, std::size_t credit_bytes)> on_written;
        /// Once, with errno (EPIPE: the reader is gone). Everything after it is dropped.
        std::function<void(int error)> on_failed;
        /// Whenever nothing is left to write.
        std::function<void()> on_empty;
    };

    OutputWriter(EventLoop& loop, int descriptor, Handlers handlers);

    void add(std::vector<OutputItem> items);
    [[nodiscard]] bool is_empty() const { return queue_.empty(); }

  private:
    enum class Way : std::uint8_t {
        direct,   ///< Files: always ready.
        watched,  ///< Pipes and terminals, opened once more for ourselves as non-blocking.
        patient,  ///< What can't be opened once more: asked before every small write.
    };
    void write();
    [[nodiscard]] ssize_t write_some();
    void write_later();
    void take_off(std::size_t written_bytes);
    void drop_all();

    EventLoop& loop_;
    int descriptor_;
    Way way_ = Way::direct;
    std::unique_ptr<DescriptorWatch> watch_;
    Timer retry_timer_;
    Handlers handlers_;
    std::deque<OutputItem> queue_;
    std::size_t written_of_first_ = 0;
    bool is_waiting_ = false;
    bool has_failed_ = false;
};

}  // namespace dlrt::launcher
