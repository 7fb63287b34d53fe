// SPDX-License-Identifier: Apache-2.0
/// Threads of the runtime in a user's process: no signal is delivered to them.
#pragma once

#include "runtime/base/error_text.hpp"
#include "runtime/base/result.hpp"

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace dlrt {

/// Errors: Errc::system.
template<typename Body>
[[nodiscard]] Result<std::thread> start_quiet_thread(Body&& body) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread;
    int error = 0;
    try {
        thread = std::thread(std::forward<Body>(body));
    } catch (const std::system_error& failure) {
        error = failure.code().value();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0) return fail_errno(error, "start a helper thread");
    return thread;
}

}  // namespace dlrt
