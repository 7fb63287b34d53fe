// SPDX-License-Identifier: Apache-2.0
/// A text with signs that stand for facts of a rank: the tags of its lines, the names of its output
/// files. A value.
///
///   %r rank  %R local rank  %h host  %p pid  %s stream (out, err)  %b block  %j job  %% a percent
///   %3r or %03r: the number of at least three digits, with zeros before it
#pragma once

#include "launcher/frame.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// What the signs stand for.
struct LineFacts {
    std::uint32_t rank = 0;
    std::uint32_t local_rank = 0;
    std::string_view host;
    std::int32_t pid = 0;
    StreamKind stream = StreamKind::out;
    std::uint32_t block = 0;
    std::string_view job_id;
};

class LineFormat {
  public:
    LineFormat() = default;

    /// Errors: Errc::argument, with what is wrong and what is valid.
    [[nodiscard]] static Result<LineFormat> parse(std::string_view text);

    [[nodiscard]] std::string expand(const LineFacts& facts) const;
    [[nodiscard]] bool is_empty() const { return pieces_.empty(); }
    /// Whether it has this sign: 'r' for %r.
    [[nodiscard]] bool uses(char sign) const;

  private:
    struct Piece {
        char sign = 0;  ///< 0: the text itself.
        std::uint32_t width = 0;
        std::string text;
    };
    std::vector<Piece> pieces_;
};

/// The text that expands to `text` itself.
[[nodiscard]] std::string escape_for_format(std::string_view text);

}  // namespace dlrt::launcher
