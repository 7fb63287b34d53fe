// SPDX-License-Identifier: Apache-2.0
/// Cuts what comes out of a rank's pipe at the ends of lines. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlrt::launcher {

/// A line longer than this is passed on in parts.
inline constexpr std::size_t line_bytes_max = 256 * 1024;

class LineAssembler {
  public:
    /// Takes the next bytes and returns those that can be passed on: whole lines, or everything
    /// once the line has become too long. Valid until the next call.
    [[nodiscard]] std::string_view append(std::string_view bytes);
    /// At the end of the stream: what is left, completed to a line.
    [[nodiscard]] std::string_view finish();
    /// What is left, though the line isn't complete: the rank waits for an answer to it.
    [[nodiscard]] std::string_view take_partial();
    [[nodiscard]] bool has_partial() const { return !partial_.empty(); }
    [[nodiscard]] std::size_t partial_bytes() const { return partial_.size(); }
    /// The beginning of the current line has been passed on.
    [[nodiscard]] bool is_in_line() const { return is_in_line_; }

  private:
    std::string partial_;  ///< The head of a line whose end hasn't come.
    std::string ready_;
    bool is_in_line_ = false;  ///< The last byte passed on was within a line.
};

}  // namespace dlrt::launcher
