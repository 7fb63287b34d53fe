// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_timers.hpp"

#include <chrono>
#include <utility>

namespace dlrt::launcher {

JobTimers::JobTimers(asio::io_context& loop, const Options& options, Handlers handlers)
    : options_(options), handlers_(std::move(handlers)), timeout_(loop) {
}

void JobTimers::start() {
    if (!options_.timeout_ms) return;
    timeout_.expires_after(std::chrono::milliseconds(*options_.timeout_ms));
    timeout_.async_wait([this](const boost::system::error_code& error) {
        if (!error) handlers_.on_timeout();
    });
}

void JobTimers::cancel() {
    timeout_.cancel();
}

}  // namespace dlrt::launcher
