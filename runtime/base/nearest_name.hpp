// SPDX-License-Identifier: Apache-2.0
/// Which valid name somebody meant who wrote an unknown one. Pure.
#pragma once

#include <span>
#include <string_view>

namespace dlrt {

/// The name with the fewest letters to insert, delete, replace or swap; the first of several.
/// Empty when `names` is.
[[nodiscard]] std::string_view nearest_name(
    std::string_view wanted, std::span<const std::string_view> names
);

}  // namespace dlrt
