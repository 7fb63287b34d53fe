// SPDX-License-Identifier: Apache-2.0
/// The times after which dlrun itself does something about a job. Runs in the head's event loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/options.hpp"

#include <functional>

namespace dlrt::launcher {

class JobTimers {
  public:
    struct Handlers {
        std::function<void()> on_timeout;
    };

    JobTimers(EventLoop& loop, const Options& options, Handlers handlers);

    /// The ranks are being started.
    void start();
    /// Nothing of it matters any more.
    void cancel();

  private:
    const Options& options_;
    Handlers handlers_;
    Timer timeout_;
};

}  // namespace dlrt::launcher
