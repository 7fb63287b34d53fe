// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_timers.hpp"

#include <chrono>
#include <utility>

namespace dlrt::launcher {

JobTimers::JobTimers(EventLoop& loop, const Options& options, Handlers handlers)
    : options_(options), handlers_(std::move(handlers)), timeout_(loop) {
}

void JobTimers::start() {
    if (!options_.timeout_ms) return;
    timeout_.start(std::chrono::milliseconds(*options_.timeout_ms), [this] {
        handlers_.on_timeout();
    });
}

void JobTimers::cancel() {
    timeout_.cancel();
}

}  // namespace dlrt::launcher
