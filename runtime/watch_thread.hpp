// SPDX-License-Identifier: Apache-2.0
/// A helper thread that sleeps in poll over some descriptors until one of them has news or it is
/// told to stop. No signal is delivered to it. Made and destroyed by one thread.
#pragma once

#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <functional>
#include <memory>
#include <poll.h>
#include <thread>
#include <vector>

namespace dlrt {

class WatchThread {
  public:
    struct Callbacks {
        /// What to watch now; asked before every sleep.
        std::function<std::vector<pollfd>()> descriptors;
        /// One entry of that list with its revents.
        std::function<void(const pollfd&)> on_event;
    };
    /// Errors: Errc::system.
    [[nodiscard]] static Result<std::unique_ptr<WatchThread>> start(Callbacks callbacks);
    /// Stops and joins. REQUIRES: not in a forked child.
    ~WatchThread();
    WatchThread(const WatchThread&) = delete;
    WatchThread& operator=(const WatchThread&) = delete;

  private:
    WatchThread(Callbacks callbacks, Fd stop);
    void run();

    Callbacks callbacks_;
    Fd stop_;
    std::vector<pollfd> entries_;  ///< Of the thread alone; here, a forked child doesn't leak it.
    std::thread thread_;
};

}  // namespace dlrt
