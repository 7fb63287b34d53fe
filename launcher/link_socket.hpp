// SPDX-License-Identifier: Apache-2.0
/// Waits for the socket of an opening connection without owning it. In the event loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "runtime/connect/opening.hpp"

#include <fcntl.h>
#include <functional>
#include <utility>

namespace dlrt::launcher {

class LinkSocketWatch {
  public:
    LinkSocketWatch(EventLoop& loop, const tcp::Opening& opening)
        : watch_(loop, ::fcntl(opening.socket(), F_DUPFD_CLOEXEC, 3)) {}

    /// Calls `handler` once, when the opening can go on.
    void when_ready(const tcp::Opening& opening, std::function<void()> handler) {
        if (!watch_.is_open()) return;
        if (opening.wants_to_write()) {
            watch_.when_writable(std::move(handler));
        } else {
            watch_.when_readable(std::move(handler));
        }
    }
    void close() { watch_.close(); }

  private:
    DescriptorWatch watch_;  ///< Of a copy.
};

}  // namespace dlrt::launcher
