// SPDX-License-Identifier: Apache-2.0
/// Texts made from the table of options: help, man page, completion. Pure.
#pragma once

#include "launcher/option_table.hpp"

#include <span>
#include <string>
#include <string_view>

namespace dlrt::launcher {

struct OptionGroupTitle {
    OptionGroup group = OptionGroup::size;
    std::string_view title;
};
/// In the order in which they are shown.
[[nodiscard]] std::span<const OptionGroupTitle> option_group_titles();

/// `dlrun --help`
[[nodiscard]] std::string help_text();

/// `dlrun --help-env`: the settings.
[[nodiscard]] std::string settings_text();

/// dlrun.1, in the man macros.
[[nodiscard]] std::string man_page(std::string_view version);

/// For bash: options, the values that are words, files or folders, and then the program's own
/// completion.
[[nodiscard]] std::string bash_completion();

/// One line for each option: name, aliases, scope, repeat, kind, what is valid; separated by tabs.
/// For tests that must know all of them.
[[nodiscard]] std::string option_list();

}  // namespace dlrt::launcher
