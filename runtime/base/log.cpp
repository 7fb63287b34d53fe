// SPDX-License-Identifier: Apache-2.0
/// The level, the identity, and the one place that writes to standard error.
#include "runtime/base/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <unistd.h>

namespace dlrt {
namespace {

constinit std::atomic<LogLevel> current_level{LogLevel::warning};

struct Identity {
    std::array<char, 128> text{};
    std::atomic<std::size_t> length{0};
};
constinit Identity identity;

}  // namespace

LogLevel log_level() {
    return current_level.load(std::memory_order_relaxed);
}

void set_log_level(LogLevel level) {
    current_level.store(level, std::memory_order_relaxed);
}

void set_log_identity(std::uint32_t rank, std::string_view host) {
    const std::string text = fmt::format("{} {}", rank, host);
    const std::size_t length = std::min(text.size(), identity.text.size());
    // Readers of another thread see no identity while it changes.
    identity.length.store(0, std::memory_order_release);
    std::copy_n(text.begin(), length, identity.text.begin());
    identity.length.store(length, std::memory_order_release);
}

void write_log_line(std::string_view module, std::string_view text) {
    const std::size_t length = identity.length.load(std::memory_order_acquire);
    std::string line = length != 0
                           ? fmt::format("[{}]", std::string_view(identity.text.data(), length))
                           : fmt::format("[pid {}]", ::getpid());
    line += fmt::format(" {}: {}", module, text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    // A failed write to standard error has nobody left to be told.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace dlrt
