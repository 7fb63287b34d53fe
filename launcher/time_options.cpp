// SPDX-License-Identifier: Apache-2.0
/// Options that say how long things may take, and what a failure does.
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;
constexpr std::uint64_t time_ms_max = 1'000'000'000'000;

Status apply_timeout(ParseState& state, const OptionUse& use) {
    state.options.timeout_ms = use.number;
    return {};
}

Status apply_start_timeout(ParseState& state, const OptionUse& use) {
    state.options.start_timeout_ms = use.number;
    return {};
}

Status apply_grace(ParseState& state, const OptionUse& use) {
    state.options.grace_ms = use.number;
    return {};
}

Status apply_signal(ParseState& state, const OptionUse& use) {
    const std::size_t at = use.value.find('@');
    if (at == std::string_view::npos) return refuse_value(use);
    const auto signal = parse_signal(use.value.substr(0, at));
    if (!signal) return refuse_value(use, "there is no such signal");
    const auto before_ms = parse_seconds_as_ms(use.value.substr(at + 1));
    if (!before_ms || *before_ms < 1 || *before_ms > time_ms_max) {
        return refuse_value(use, "the seconds are none");
    }
    state.options.warning_signal = {*signal, *before_ms};
    return {};
}

Status apply_on_fail(ParseState& state, const OptionUse& use) {
    state.options.on_failure = static_cast<OnFailure>(use.number);
    return {};
}

constexpr OptionRule rules[] = {
    {.name = "timeout",
     .aliases = "",
     .group = OptionGroup::time,
     .value = {Kind::seconds, "SECONDS", "", 1, time_ms_max},
     .help = "end the job after this time, with status 124",
     .apply = apply_timeout},
    {.name = "start-timeout",
     .aliases = "spawn-timeout",
     .group = OptionGroup::time,
     .value = {Kind::seconds, "SECONDS", "", 1, time_ms_max},
     .help = "give up if the ranks haven't started after this time (60)",
     .apply = apply_start_timeout},
    {.name = "grace",
     .aliases = "",
     .group = OptionGroup::time,
     .value = {Kind::seconds, "SECONDS", "", 0, time_ms_max},
     .help = "time between asking ranks to end and killing them (5)",
     .apply = apply_grace},
    {.name = "signal",
     .aliases = "",
     .group = OptionGroup::time,
     .value = {Kind::form, "SIGNAL@SECONDS", "a signal and seconds before --timeout, USR1@60"},
     .help = "send ranks this signal so long before --timeout ends them",
     .apply = apply_signal},
    {.name = "on-fail",
     .aliases = "on-failure",
     .group = OptionGroup::time,
     .choice = "failure",
     .value = {Kind::choice, "kill|wait|ignore", "", 0, 0, "kill|wait|ignore"},
     .help = "what the failure of a rank does: end all (kill); nothing until the others have ended "
             "(wait); that, and it doesn't count for the status (ignore)",
     .apply = apply_on_fail},
};

}  // namespace

std::span<const OptionRule> time_options() {
    return rules;
}

}  // namespace dlrt::launcher
