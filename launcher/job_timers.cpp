// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_timers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace dlrt::launcher {

JobTimers::JobTimers(EventLoop& loop, const Options& options, Handlers handlers)
    : options_(options),
      handlers_(std::move(handlers)),
      timeout_(loop),
      start_timeout_(loop),
      warning_(loop) {
}

void JobTimers::begin() {
    start_timeout_.start(std::chrono::milliseconds(options_.start_timeout_ms), [this] {
        handlers_.on_start_timeout();
    });
}

void JobTimers::start() {
    if (!options_.timeout_ms) return;
    timeout_.start(std::chrono::milliseconds(*options_.timeout_ms), [this] {
        handlers_.on_timeout();
    });
    if (!options_.warning_signal) return;
    const auto [signal, before_ms] = *options_.warning_signal;
    const std::uint64_t after_ms = *options_.timeout_ms - std::min(*options_.timeout_ms, before_ms);
    warning_.start(std::chrono::milliseconds(after_ms), [this, signal = signal] {
        handlers_.on_warning(signal);
    });
}

void JobTimers::cancel() {
    timeout_.cancel();
    start_timeout_.cancel();
    warning_.cancel();
}

}  // namespace dlrt::launcher
