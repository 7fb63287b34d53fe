// SPDX-License-Identifier: Apache-2.0
/// How options change the environment of ranks: what an option's value says as an edit, checked
/// against those that came before. Pure.
#pragma once

#include "launcher/option_table.hpp"

#include <string_view>

namespace dlrt::launcher {

/// Adds the edit to a block's list or to that of all blocks. Errors: Errc::argument for names that
/// can't be, those that dlrun sets itself, and the same name in another way.
Status add_edit(std::vector<EnvironmentEdit>& edits, const OptionUse& use, EnvironmentEdit edit);

/// Whether the name stands for all that match it.
[[nodiscard]] bool is_glob(std::string_view name);

}  // namespace dlrt::launcher
