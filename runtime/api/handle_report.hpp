// SPDX-License-Identifier: Apache-2.0
/// DLRT_CHECK=1: names the handles that a program has not freed when it finalizes.
#pragma once

#include "runtime/api/surface.hpp"

#include <string>
#include <vector>

namespace dlrt::api {

/// One line per handle that is still live, at most ten of a kind; none when DLRT_CHECK is off.
[[nodiscard]] std::vector<std::string> describe_leftovers(Surface& surface);

}  // namespace dlrt::api
