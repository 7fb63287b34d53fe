// SPDX-License-Identifier: Apache-2.0
#include "launcher/input_source.hpp"

#include "launcher/process_defaults.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlrt::launcher {
namespace {

constexpr std::size_t window_bytes = 512 * 1024;
constexpr std::size_t read_bytes = 64 * 1024;
constexpr std::size_t terminal_read_bytes = 4096;
constexpr std::chrono::milliseconds foreground_look_time{200};
constexpr std::chrono::milliseconds patient_time{2};

bool is_in_foreground(int terminal) {
    return ::tcgetpgrp(terminal) == ::getpgrp();
}

}  // namespace

bool InputSource::start() {
    struct stat facts = {};
    if (::fstat(STDIN_FILENO, &facts) != 0) return false;
    is_started_ = true;
    const bool is_terminal = ::isatty(STDIN_FILENO) == 1;
    if (is_terminal || S_ISFIFO(facts.st_mode)) {
        // The user's own open file must stay a blocking one for everybody else who has it.
        const int own = ::open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (own < 0 && is_terminal) return false;
        way_ = own < 0 ? Way::patient : is_terminal ? Way::terminal : Way::watched;
        if (own >= 0) watch_ = std::make_unique<DescriptorWatch>(loop_, own);
    } else if (S_ISSOCK(facts.st_mode)) {
        way_ = Way::patient;
    }
    // Between the look at the foreground and the read it may have changed: then read() shall just
    // fail.
    if (is_terminal) ::signal(SIGTTIN, SIG_IGN);
    wait();
    return true;
}

void InputSource::wait() {
    if (is_waiting_ || !is_open() || under_way_bytes_ >= window_bytes) return;
    is_waiting_ = true;
    switch (way_) {
        case Way::terminal:
            if (!is_in_foreground(descriptor())) {
                return wait_a_while(foreground_look_time, &InputSource::wait_again);
            }
            [[fallthrough]];
        case Way::watched:
            return watch_->when_readable([this] { read(); });
        case Way::direct:
            return loop_.post([this] { read(); });
        case Way::patient:
            return read_if_ready();
    }
}

void InputSource::wait_a_while(std::chrono::milliseconds time, void (InputSource::*next)()) {
    timer_.start(time, [this, next] {
        if (is_open()) (this->*next)();
    });
}

void InputSource::wait_again() {
    is_waiting_ = false;
    wait();
}

void InputSource::read_if_ready() {
    pollfd entry{STDIN_FILENO, POLLIN, 0};
    if (::poll(&entry, 1, 0) != 1) return wait_a_while(patient_time, &InputSource::read_if_ready);
    loop_.post([this] { read(); });
}

void InputSource::read() {
    is_waiting_ = false;
    if (!is_open()) return;
    const bool is_terminal = way_ == Way::terminal;
    if (is_terminal && !is_in_foreground(descriptor())) return wait();
    std::vector<std::byte> bytes(is_terminal ? terminal_read_bytes : read_bytes);
    const ssize_t got = ::read(descriptor(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return wait();
    // EIO: it went to the background after all, or the terminal is gone and HUP follows.
    if (got < 0 && errno == EIO && is_terminal && !is_in_foreground(descriptor())) return wait();
    if (got <= 0) {
        stop();
        return on_bytes_({});
    }
    bytes.resize(static_cast<std::size_t>(got));
    under_way_bytes_ += bytes.size();
    on_bytes_(std::move(bytes));
    wait();
}

void InputSource::taken(std::uint64_t size_bytes) {
    under_way_bytes_ -= std::min<std::size_t>(size_bytes, under_way_bytes_);
    wait();
}

void InputSource::stop() {
    if (!is_open()) return;
    is_stopped_ = true;
    timer_.cancel();
    if (watch_ != nullptr) watch_->close();
    if (way_ != Way::terminal) redirect_to_null(STDIN_FILENO);
}

}  // namespace dlrt::launcher
