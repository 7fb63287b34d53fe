// SPDX-License-Identifier: Apache-2.0
/// Texts made from the table of options: help, man page, completion. Pure.
#pragma once

#include <string>
#include <string_view>

namespace dlrt::launcher {

/// `dlrun --help`
[[nodiscard]] std::string help_text();

/// `dlrun --help-env`: the settings.
[[nodiscard]] std::string settings_text();

}  // namespace dlrt::launcher
