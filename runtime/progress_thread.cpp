// SPDX-License-Identifier: Apache-2.0
/// Starts and ends the thread that helps.
#include "runtime/progress_thread.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/quiet_thread.hpp"

#include <pthread.h>

namespace dlrt {

Result<std::unique_ptr<ProgressThread>> ProgressThread::start(Engine& engine) {
    std::unique_ptr<ProgressThread> helper(new ProgressThread(engine));
    Result<std::thread> thread = start_quiet_thread([&engine] { engine.help(); });
    if (!thread) return thread.error();
    helper->thread_ = std::move(*thread);
    // Linux keeps 15 characters.
    ::pthread_setname_np(helper->thread_.native_handle(), "dlrt-progress");
    return helper;
}

ProgressThread::~ProgressThread() {
    if (!thread_.joinable()) return;
    engine_.stop_helping();
    thread_.join();
}

}  // namespace dlrt
