// SPDX-License-Identifier: Apache-2.0
/// One line per event on standard error: "[rank host] module: text", written by one write(2), so
/// that lines of different ranks don't mix. Any thread; the identity is set by the one that inits.
#pragma once

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace dlrt {

/// What is logged: the level of DLRT_LOG and all before it.
enum class LogLevel : std::uint8_t { error, warning, info, debug };

[[nodiscard]] LogLevel log_level();
void set_log_level(LogLevel level);
/// The two words in front of every later line; before, it is the process id alone.
void set_log_identity(std::uint32_t rank, std::string_view host);

/// Writes whatever the level is. A newline inside the text becomes a blank.
void write_log_line(std::string_view module, std::string_view text);

template<typename... Args>
void log(
    LogLevel level, std::string_view module, fmt::format_string<Args...> format, Args&&... args
) {
    if (level > log_level()) return;
    write_log_line(module, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace dlrt
