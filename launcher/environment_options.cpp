// SPDX-License-Identifier: Apache-2.0
/// Options that say what the ranks of a program find around them: variables, folders, a wrapper.
#include "launcher/environment_edits.hpp"
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"
#include "launcher/rank_environment.hpp"
#include "launcher/word_splitter.hpp"
#include "runtime/base/error_text.hpp"

#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;

/// NAME=value. The kind `form` has seen to it that there is a value.
Status add_assignment(
    std::vector<EnvironmentEdit>& edits, const OptionUse& use, std::string_view assignment
) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) return refuse_value(use);
    return add_edit(
        edits, use,
        {EnvironmentEdit::Kind::assign, std::string(assignment.substr(0, equals)),
         std::string(assignment.substr(equals + 1))}
    );
}

Status apply_env(ParseState& state, const OptionUse& use) {
    return add_assignment(state.block().environment_edits, use, use.value);
}

Status apply_export(ParseState& state, const OptionUse& use) {
    if (use.value.find('=') != std::string_view::npos) return apply_env(state, use);
    return add_edit(
        state.block().environment_edits, use,
        {EnvironmentEdit::Kind::forward, std::string(use.value), ""}
    );
}

Status apply_unset(ParseState& state, const OptionUse& use) {
    if (use.value.find('=') != std::string_view::npos) return refuse_value(use);
    return add_edit(
        state.block().environment_edits, use,
        {EnvironmentEdit::Kind::unset, std::string(use.value), ""}
    );
}

Status apply_env_all(ParseState& state, const OptionUse&) {
    state.environment_base_of_block = EnvironmentBase::all;
    return {};
}

Status apply_env_none(ParseState& state, const OptionUse&) {
    state.environment_base_of_block = EnvironmentBase::none;
    return {};
}

Status apply_wdir(ParseState& state, const OptionUse& use) {
    state.block().working_directory = use.value;
    return {};
}

Status apply_prefix(ParseState& state, const OptionUse& use) {
    if (use.value.find(':') != std::string_view::npos) {
        return refuse_value(use, "a ':' can't stand in PATH");
    }
    state.block().prefix = use.value;
    return {};
}

Status apply_wrap(ParseState& state, const OptionUse& use) {
    Wrap wrap;
    std::string_view command = use.value;
    const std::size_t colon = command.find(':');
    const std::string_view head = command.substr(0, colon);
    if (colon != std::string_view::npos &&
        head.find_first_not_of("0123456789,-") == std::string_view::npos) {
        Result<RankSet> ranks = RankSet::parse(head);
        if (!ranks) return refuse_value(use, fmt::format("'{}' names no ranks", head));
        wrap.ranks = std::move(*ranks);
        command.remove_prefix(colon + 1);
    }
    SplitFailure failure;
    for (SplitWord& word : split_words(command, Comments::none, failure)) {
        wrap.command.push_back(std::move(word.text));
    }
    if (!failure.problem.empty()) {
        return refuse_value(use, fmt::format("it holds {}", failure.problem));
    }
    if (wrap.command.empty() || wrap.command[0].empty()) return refuse_value(use);
    state.block().wraps.push_back(std::move(wrap));
    return {};
}

constexpr OptionRule rules[] = {
    {.name = "x",
     .aliases = "",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .repeat = OptionRepeat::adds,
     .value = {Kind::form, "NAME[=value]", "NAME or NAME=value; a NAME alone may hold * and ?"},
     .help = "set a variable, or pass on the caller's value of each that matches ('OMP_*')",
     .apply = apply_export},
    {.name = "env",
     .aliases = "set-env",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .repeat = OptionRepeat::adds,
     .value = {Kind::form, "NAME=value", "NAME=value"},
     .help = "set a variable",
     .apply = apply_env},
    {.name = "unset",
     .aliases = "unset-env env-remove",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .repeat = OptionRepeat::adds,
     .value = {Kind::form, "NAME", "the NAME of a variable, which may hold * and ?"},
     .help = "don't pass on the variables that match",
     .apply = apply_unset},
    {.name = "env-all",
     .aliases = "envall",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .repeat = OptionRepeat::harmless,
     .choice = "environment",
     .help = "pass on every variable, also those of the caller's session, host and launcher",
     .apply = apply_env_all},
    {.name = "env-none",
     .aliases = "envnone",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .repeat = OptionRepeat::harmless,
     .choice = "environment",
     .help = "pass on no variable but those that are named",
     .apply = apply_env_none},
    {.name = "wdir",
     .aliases = "wd cwd chdir",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .value = {Kind::folder, "FOLDER", "a folder"},
     .help = "working directory",
     .apply = apply_wdir},
    {.name = "prefix",
     .aliases = "",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .value = {Kind::folder, "FOLDER", "a folder"},
     .help = "put FOLDER/bin before PATH and FOLDER/lib before LD_LIBRARY_PATH",
     .apply = apply_prefix},
    {.name = "wrap",
     .aliases = "",
     .group = OptionGroup::environment,
     .scope = OptionScope::block,
     .repeat = OptionRepeat::adds,
     .value = {Kind::form, "[RANKS:]COMMAND", "[RANKS:]COMMAND such as '0,3:valgrind -q'"},
     .help = "run the program (of these ranks) under a command, such as '0:gdb --args'",
     .apply = apply_wrap},
};

}  // namespace

bool is_glob(std::string_view name) {
    return name.find_first_of("*?[") != std::string_view::npos;
}

Status add_edit(std::vector<EnvironmentEdit>& edits, const OptionUse& use, EnvironmentEdit edit) {
    if (edit.name.empty()) return refuse_value(use, "it has no name");
    if (edit.kind == EnvironmentEdit::Kind::assign && is_glob(edit.name)) {
        return refuse_value(use, "only a name without a value may hold *, ? and [");
    }
    if (is_reserved_variable(edit.name)) {
        return fail(
            Errc::argument, "{}: {} is set by dlrun itself for every rank", use.spelling, edit.name
        );
    }
    for (const EnvironmentEdit& earlier : edits) {
        if (earlier == edit) return {};
        if (earlier.name != edit.name) continue;
        return fail(
            Errc::argument, "{}: {} is given twice for one program, in different ways",
            use.spelling, edit.name
        );
    }
    edits.push_back(std::move(edit));
    return {};
}

std::span<const OptionRule> environment_options() {
    return rules;
}

}  // namespace dlrt::launcher
