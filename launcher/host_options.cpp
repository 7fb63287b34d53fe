// SPDX-License-Identifier: Apache-2.0
/// Options that say how other hosts are reached.
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"
#include "launcher/remote_command.hpp"
#include "runtime/base/error_text.hpp"

#include <string>
#include <utility>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;
constexpr std::uint64_t launch_width_max = 1024;

Status apply_launcher_cmd(ParseState& state, const OptionUse& use) {
    Result<LauncherTemplate> launcher = parse_launcher_template(use.value);
    if (!launcher) return refuse_value(use, std::string(last_error_text()));
    state.options.launcher_words = std::move(launcher->words);
    return {};
}

Status apply_launch_width(ParseState& state, const OptionUse& use) {
    state.options.launch_width = static_cast<std::uint32_t>(use.number);
    return {};
}

constexpr OptionRule rules[] = {
    {.name = "launcher-cmd",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value =
         {Kind::form, "'COMMAND {host}'",
          "a command with {host} in it, and {user} and {port} where needed: 'rsh {host}'"},
     .help =
         "start the daemons of other hosts by this command instead of ssh; the daemon's command "
         "line follows it, and it passes input and output on",
     .apply = apply_launcher_cmd},
    {.name = "launch-width",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value = {Kind::number, "N", "hosts", 1, launch_width_max},
     .help = "start so many daemons at a time (16)",
     .apply = apply_launch_width},
};

}  // namespace

std::span<const OptionRule> host_options() {
    return rules;
}

}  // namespace dlrt::launcher
