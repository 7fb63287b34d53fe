// SPDX-License-Identifier: Apache-2.0
/// Text to words, as a shell would read it, but without anything that a shell does beyond that:
/// blanks separate, '…' and "…" hold together, a backslash takes the next character as it is (in
/// "…" only before " and \), and nothing is expanded. Pure.
#pragma once

#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

struct SplitWord {
    std::string text;
    std::size_t column = 0;  ///< Of its first character in bytes, from 0.
    bool is_quoted = false;  ///< Any of it was quoted.
};

enum class Comments : std::uint8_t {
    none,
    hash,  ///< A word that begins with # ends the text.
};

/// `problem` of what can't be split, and where.
struct SplitFailure {
    std::string problem;
    std::size_t column = 0;
};

/// Of one line. The failure, if any, is in `failure`, which then isn't empty.
[[nodiscard]] std::vector<SplitWord> split_words(
    std::string_view text, Comments comments, SplitFailure& failure
);

}  // namespace dlrt::launcher
