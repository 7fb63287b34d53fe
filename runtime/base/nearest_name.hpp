// SPDX-License-Identifier: Apache-2.0
/// What somebody may have meant by a word that is none of ours. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dlrt {

/// The element of `names` that `word` is a likely misspelling of: the one with the fewest letters
/// to insert, delete, replace or swap, and few of them; the first of several. Empty if none is
/// near.
[[nodiscard]] std::string_view nearest_name(
    std::string_view word, std::span<const std::string_view> names
);

/// "did you mean NAME?", or all that is valid where no name is near.
[[nodiscard]] std::string did_you_mean(
    std::string_view word, std::span<const std::string_view> names
);

}  // namespace dlrt
