// SPDX-License-Identifier: Apache-2.0
/// What somebody may have meant by a word that is none of ours. Pure.
#pragma once

#include <span>
#include <string_view>

namespace dlrt::launcher {

/// The element of `names` that `word` is a likely misspelling of; empty if none is near.
[[nodiscard]] std::string_view nearest_name(
    std::string_view word, std::span<const std::string_view> names
);

}  // namespace dlrt::launcher
