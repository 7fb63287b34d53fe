// SPDX-License-Identifier: Apache-2.0
/// Options that show something: what would run where, what runs, and how it went.
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;

Status apply_dry_run(ParseState& state, const OptionUse&) {
    state.options.is_dry_run = true;
    return {};
}

bool read_display_word(std::string_view word, Display& display) {
    if (word == "map") {
        display.map = true;
    } else if (word == "alloc" || word == "allocation") {
        display.allocation = true;
    } else if (word == "topo" || word == "topology") {
        display.topology = true;
    } else if (word == "bind" || word == "bindings" || word == "binding") {
        display.binding = true;
    } else {
        return false;
    }
    return true;
}

Status apply_display(ParseState& state, const OptionUse& use) {
    Display& display = state.options.display;
    std::string_view words = use.value;
    if (const std::size_t colon = words.find(':'); colon != std::string_view::npos) {
        const std::string_view format = words.substr(colon + 1);
        if (format == "json") {
            display.format = Display::Format::json;
        } else if (format == "svg") {
            display.format = Display::Format::svg;
        } else if (format != "text") {
            return refuse_value(use, fmt::format("there is no format '{}'", format));
        }
        words = words.substr(0, colon);
    }
    for (const std::string_view word : split_list(words, ',')) {
        if (!read_display_word(word, display)) {
            return refuse_value(use, fmt::format("'{}' can't be shown", word));
        }
    }
    if (display.format == Display::Format::svg && (display.map || display.allocation)) {
        return refuse_value(use, "only topo and bind can be drawn as svg");
    }
    return {};
}

Status apply_report_bindings(ParseState& state, const OptionUse&) {
    state.options.reports_bindings = true;
    return {};
}

Status apply_report(ParseState& state, const OptionUse& use) {
    state.options.report_file = use.value;
    return {};
}

Status apply_progress(ParseState& state, const OptionUse&) {
    state.options.shows_progress = true;
    return {};
}

Status apply_verbose(ParseState& state, const OptionUse&) {
    state.options.is_verbose = true;
    return {};
}

Status apply_status(ParseState& state, const OptionUse& use) {
    constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyz";
    if (use.value.find_first_not_of(letters) != std::string_view::npos) return refuse_value(use);
    state.options.action = Options::Action::show_status;
    state.options.status_job = use.value;
    return {};
}

Status apply_help(ParseState& state, const OptionUse&) {
    state.options.action = Options::Action::show_help;
    return {};
}

Status apply_help_env(ParseState& state, const OptionUse&) {
    state.options.action = Options::Action::show_settings;
    return {};
}

Status apply_version(ParseState& state, const OptionUse&) {
    state.options.action = Options::Action::show_version;
    return {};
}

constexpr OptionRule rules[] = {
    {.name = "dry-run",
     .aliases = "do-not-launch donotlaunch test-only",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::harmless,
     .help = "say what would be started where, and start nothing",
     .apply = apply_dry_run},
    {.name = "display",
     .aliases = "",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::adds,
     .value =
         {Kind::form, "WHAT[:FORMAT]",
          "some of map,alloc,topo,bind; then :text, :json or, for topo and bind, :svg"},
     .help = "show ranks on hosts (map), hosts and slots (alloc), the hardware (topo), cpus of "
             "ranks (bind), as text, json or svg",
     .apply = apply_display},
    {.name = "report-bindings",
     .aliases = "",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::harmless,
     .help = "say for each rank which cpus it is bound to",
     .apply = apply_report_bindings},
    {.name = "report",
     .aliases = "",
     .group = OptionGroup::look,
     .value = {Kind::file, "FILE", "a file to write"},
     .help = "write a report of the run as JSON: hosts, ranks, times, memory, how each ended",
     .apply = apply_report},
    {.name = "progress",
     .aliases = "show-progress",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::harmless,
     .help = "say how many ranks have started and ended, while it runs",
     .apply = apply_progress},
    {.name = "verbose",
     .aliases = "v",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::harmless,
     .help = "say what is started where",
     .apply = apply_verbose},
    {.name = "status",
     .aliases = "",
     .group = OptionGroup::look,
     .value =
         {Kind::form, "[JOB]", "a job's id: small letters and digits", 0, 0, "",
          /*is_optional=*/true},
     .help = "show what the ranks of a running job do",
     .apply = apply_status},
    {.name = "help",
     .aliases = "h",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::harmless,
     .help = "show this text",
     .apply = apply_help},
    {.name = "help-env",
     .aliases = "",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::harmless,
     .help = "show the settings, which are variables of the environment",
     .apply = apply_help_env},
    {.name = "version",
     .aliases = "V",
     .group = OptionGroup::look,
     .repeat = OptionRepeat::harmless,
     .help = "show the version",
     .apply = apply_version},
};

}  // namespace

std::span<const OptionRule> look_options() {
    return rules;
}

}  // namespace dlrt::launcher
