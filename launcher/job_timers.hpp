// SPDX-License-Identifier: Apache-2.0
/// The times after which dlrun itself does something about a job. Runs in the head's event loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/options.hpp"

#include <cstdint>
#include <functional>

namespace dlrt::launcher {

class JobTimers {
  public:
    struct Handlers {
        std::function<void()> on_timeout;
        std::function<void()> on_start_timeout;
        std::function<void(int signal)> on_warning;
    };

    JobTimers(EventLoop& loop, const Options& options, Handlers handlers);

    /// Daemons are being started, then ranks: both together may take the time for it.
    void begin();
    /// The ranks are being started.
    void start();
    void note_all_started() { start_timeout_.cancel(); }
    /// Nothing of it matters any more.
    void cancel();

  private:
    const Options& options_;
    Handlers handlers_;
    Timer timeout_;
    Timer start_timeout_;
    Timer warning_;
};

}  // namespace dlrt::launcher
