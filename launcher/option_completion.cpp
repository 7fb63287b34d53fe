// SPDX-License-Identifier: Apache-2.0
/// Completion for bash, and the plain list for tests, from the table of options.
#include "launcher/option_pages.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;

/// With dashes, as users write them: all names of a rule.
std::vector<std::string> spellings(const OptionRule& rule) {
    std::vector<std::string> names = {with_dashes(rule.name)};
    if (rule.aliases.empty()) return names;
    for (const std::string_view alias : split_list(rule.aliases, ' ')) {
        names.push_back(with_dashes(alias));
    }
    return names;
}

/// A pattern of `case` that covers one dash and two.
std::string pattern_of(const OptionRule& rule) {
    std::string pattern;
    for (const std::string& spelling : spellings(rule)) {
        const std::string_view name = std::string_view(spelling).substr(spelling.rfind('-', 1) + 1);
        pattern += fmt::format("{}-{}|--{}", pattern.empty() ? "" : "|", name, name);
    }
    return pattern;
}

/// Words that can be the value, separated by blanks; empty: anything.
std::string words_of(const OptionRule& rule) {
    std::string_view words = rule.value.choices;
    if (rule.name == "map-by") words = "slot|host|numa|package|l3|core|hwthread|seq|ppr:";
    if (rule.name == "bind-to") words = "share|none|hwthread|core|l3|numa|package";
    if (rule.name == "display") words = "map|alloc|topo|bind|topo:svg|map:json";
    if (rule.name == "stdin") words = "all|none";
    std::string text(words);
    std::ranges::replace(text, '|', ' ');
    return text;
}

std::string completion_of_value(const OptionRule& rule) {
    if (rule.value.kind == Kind::file) return "compgen -f -- \"$word\"";
    if (rule.value.kind == Kind::folder) return "compgen -d -- \"$word\"";
    if (rule.name == "x" || rule.name == "unset") return "compgen -v -- \"$word\"";
    const std::string words = words_of(rule);
    if (words.empty()) return ":";
    return fmt::format("compgen -W '{}' -- \"$word\"", words);
}

std::string_view scope_text(OptionScope scope) {
    switch (scope) {
        case OptionScope::job:
            return "job";
        case OptionScope::block:
            return "block";
        case OptionScope::anywhere:
            break;
    }
    return "anywhere";
}

std::string_view repeat_text(OptionRepeat repeat) {
    switch (repeat) {
        case OptionRepeat::refused:
            return "refused";
        case OptionRepeat::harmless:
            return "harmless";
        case OptionRepeat::adds:
            break;
    }
    return "adds";
}

std::string_view kind_text(const OptionValue& value) {
    constexpr std::string_view names[] = {
        "nothing", "number", "seconds", "choice", "folder", "file", "form", "pair",
    };
    return value.is_optional ? "optional" : names[static_cast<std::size_t>(value.kind)];
}

}  // namespace

std::string bash_completion() {
    std::string all;
    std::string values;
    std::string pairs;
    for (const OptionRule& rule : option_rules()) {
        for (const std::string& spelling : spellings(rule)) all += spelling + " ";
        if (rule.value.kind == Kind::nothing || rule.value.is_optional) continue;
        if (rule.value.kind == Kind::pair) {
            pairs += fmt::format("{}{}", pairs.empty() ? "" : "|", pattern_of(rule));
            continue;
        }
        values += fmt::format(
            "        {})\n            COMPREPLY=($({}))\n            ;;\n", pattern_of(rule),
            completion_of_value(rule)
        );
    }
    all.pop_back();
    return fmt::format(
        "# bash completion for dlrun, made from its table of options\n"
        "_dlrun_value() {{\n"
        "    local word=$2\n"
        "    case $1 in\n{}"
        "        *) return 1 ;;\n"
        "    esac\n"
        "}}\n"
        "_dlrun() {{\n"
        "    local word=${{COMP_WORDS[COMP_CWORD]}} i=1 IFS=$' \\t\\n'\n"
        "    COMPREPLY=()\n"
        "    while ((i < COMP_CWORD)); do\n"
        "        case ${{COMP_WORDS[i]}} in\n"
        "            :|-*=*) ((i++)) ;;\n"
        "            {}) ((i += 3)) ;;\n"
        "            -*)\n"
        "                if _dlrun_value \"${{COMP_WORDS[i]}}\" ''; then\n"
        "                    ((i += 2))\n"
        "                else\n"
        "                    ((i++))\n"
        "                fi\n"
        "                ;;\n"
        "            *)\n"
        "                # The program has been named: the rest is its own, up to the next ':'.\n"
        "                local begin=$i\n"
        "                while ((i < COMP_CWORD)) && [[ ${{COMP_WORDS[i]}} != : ]]; do ((i++)); "
        "done\n"
        "                if ((i >= COMP_CWORD)); then\n"
        "                    COMPREPLY=()\n"
        "                    declare -F _command_offset >/dev/null && _command_offset \"$begin\"\n"
        "                    return\n"
        "                fi\n"
        "                ;;\n"
        "        esac\n"
        "    done\n"
        "    COMPREPLY=()\n"
        "    if ((i > COMP_CWORD)); then\n"
        "        _dlrun_value \"${{COMP_WORDS[COMP_CWORD - 1]}}\" \"$word\"\n"
        "    elif [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -c -- \"$word\") $(compgen -f -- \"$word\"))\n"
        "    fi\n"
        "}}\n"
        "complete -o default -F _dlrun dlrun\n",
        values, pairs, all
    );
}

std::string option_list() {
    std::string text;
    for (const OptionRule& rule : option_rules()) {
        text += fmt::format(
            "{}\t{}\t{}\t{}\t{}\t{}\n", rule.name, rule.aliases, scope_text(rule.scope),
            repeat_text(rule.repeat), kind_text(rule.value), valid_values(rule)
        );
    }
    return text;
}

}  // namespace dlrt::launcher
