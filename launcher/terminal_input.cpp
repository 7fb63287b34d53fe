// SPDX-License-Identifier: Apache-2.0
#include "launcher/terminal_input.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace dlrt::launcher {
namespace {

constexpr std::size_t window_bytes = 64 * 1024;
constexpr std::size_t read_bytes = 4096;
constexpr std::chrono::milliseconds foreground_look_time{200};

}  // namespace

bool TerminalInput::start() {
    const int own = ::open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0) return false;
    // Between the look at the foreground and the read it may have changed: then read() shall just
    // fail.
    ::signal(SIGTTIN, SIG_IGN);
    terminal_ = std::make_unique<DescriptorWatch>(loop_, own);
    wait();
    return true;
}

void TerminalInput::wait() {
    if (is_waiting_ || terminal_ == nullptr || !terminal_->is_open()) return;
    if (under_way_bytes_ >= window_bytes) return;
    is_waiting_ = true;
    if (::tcgetpgrp(terminal_->get()) == ::getpgrp()) {
        terminal_->when_readable([this] { read(); });
        return;
    }
    foreground_timer_.start(foreground_look_time, [this] {
        is_waiting_ = false;
        wait();
    });
}

void TerminalInput::read() {
    is_waiting_ = false;
    if (::tcgetpgrp(terminal_->get()) != ::getpgrp()) return wait();
    std::vector<std::byte> bytes(read_bytes);
    const ssize_t got = ::read(terminal_->get(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return wait();
    // EIO: it went to the background after all, or the terminal is gone and HUP follows.
    if (got < 0 && errno == EIO && ::tcgetpgrp(terminal_->get()) != ::getpgrp()) return wait();
    if (got <= 0) {
        stop();
        return on_bytes_({});
    }
    bytes.resize(static_cast<std::size_t>(got));
    under_way_bytes_ += bytes.size();
    on_bytes_(std::move(bytes));
    wait();
}

void TerminalInput::taken(std::uint64_t size_bytes) {
    under_way_bytes_ -= std::min<std::size_t>(size_bytes, under_way_bytes_);
    wait();
}

void TerminalInput::stop() {
    if (terminal_ != nullptr) terminal_->close();
    foreground_timer_.cancel();
}

}  // namespace dlrt::launcher
