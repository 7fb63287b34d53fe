// SPDX-License-Identifier: Apache-2.0
/// The loop of the helper thread.
#include "runtime/watch_thread.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/quiet_thread.hpp"

#include <cerrno>
#include <sys/eventfd.h>
#include <utility>

namespace dlrt {

WatchThread::WatchThread(Callbacks callbacks, Fd stop)
    : callbacks_(std::move(callbacks)), stop_(std::move(stop)) {
}

Result<std::unique_ptr<WatchThread>> WatchThread::start(Callbacks callbacks) {
    Fd stop(::eventfd(0, EFD_CLOEXEC));
    if (!stop.is_open()) return fail_errno(errno, "create an eventfd");
    std::unique_ptr<WatchThread> watch(new WatchThread(std::move(callbacks), std::move(stop)));
    Result<std::thread> thread = start_quiet_thread([target = watch.get()] { target->run(); });
    if (!thread) return thread.error();
    watch->thread_ = std::move(*thread);
    return watch;
}

WatchThread::~WatchThread() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    // Can't fail: the counter is far from its end.
    [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
}

void WatchThread::run() {
    for (;;) {
        entries_ = callbacks_.descriptors();
        entries_.push_back({stop_.get(), POLLIN, 0});
        if (::poll(entries_.data(), entries_.size(), -1) < 0) continue;
        if (entries_.back().revents != 0) return;
        entries_.pop_back();
        for (const pollfd& entry : entries_) {
            if (entry.revents != 0) callbacks_.on_event(entry);
        }
    }
}

}  // namespace dlrt
