// SPDX-License-Identifier: Apache-2.0
#include "launcher/option_pages.hpp"

#include "runtime/base/config.hpp"

#include <array>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::size_t help_column = 30;
constexpr std::size_t line_columns = 79;

constexpr std::array<OptionGroupTitle, 8> groups = {{
    {OptionGroup::size, "How many, where, of what"},
    {OptionGroup::environment, "What each program finds (for the program that follows)"},
    {OptionGroup::placement, "Which rank where"},
    {OptionGroup::hosts, "Reaching other hosts"},
    {OptionGroup::streams, "Input and output"},
    {OptionGroup::time, "Time and failure"},
    {OptionGroup::look, "Looking"},
    {OptionGroup::familiar, "Spellings of other launchers"},
}};

/// The name, the short ones beside it, and the value. Longer aliases would hide the rest.
std::string short_names_of(const OptionRule& rule) {
    std::string names = with_dashes(rule.name);
    if (!rule.aliases.empty()) {
        for (const std::string_view alias : split_list(rule.aliases, ' ')) {
            if (alias.size() <= 2) names += ", " + with_dashes(alias);
        }
    }
    if (!rule.value.name.empty()) names += fmt::format(" {}", rule.value.name);
    return names;
}

/// Appends words so that lines stay within line_columns; later lines begin at `indent`.
void append_wrapped(std::string& text, std::string_view words, std::size_t indent) {
    std::size_t column = indent;
    bool is_first = true;
    for (const std::string_view word : split_list(words, ' ')) {
        if (!is_first && column + 1 + word.size() > line_columns) {
            text += fmt::format("\n{:{}}", "", indent);
            column = indent;
        } else if (!is_first) {
            text += ' ';
            ++column;
        }
        text += word;
        column += word.size();
        is_first = false;
    }
    text += '\n';
}

void append_entry(std::string& text, std::string_view names, std::string_view help) {
    const std::string head = fmt::format("  {}", names);
    text += head;
    if (head.size() + 2 > help_column) {
        text += fmt::format("\n{:{}}", "", help_column);
    } else {
        text += std::string(help_column - head.size(), ' ');
    }
    append_wrapped(text, help, help_column);
}

}  // namespace

std::span<const OptionGroupTitle> option_group_titles() {
    return groups;
}

std::string help_text() {
    std::string text =
        "usage: dlrun [option]... program [argument]... [: [option]... program [argument]...]...\n"
        "       dlrun [option]... --app FILE\n"
        "       dlrun --status [JOB]\n"
        "Starts the ranks of a parallel program on this host and stays until all of\n"
        "them are gone.\n";
    for (const OptionGroupTitle& group : groups) {
        text += fmt::format("\n{}:\n", group.title);
        for (const OptionRule& rule : option_rules()) {
            if (rule.group != group.group) continue;
            append_entry(text, short_names_of(rule), rule.help);
        }
    }
    text +=
        "\nLong names take one dash or two; 'man dlrun' lists the other names of each.\n"
        "\nExit status: that of the first rank that failed, 128 + number if it died by a\n"
        "signal; 124 after --timeout, 125 if dlrun itself fails, 126/127 if a program\n"
        "can't be run or found.\n";
    return text;
}

std::string settings_text() {
    std::string text = "Settings, as variables of the environment, for dlrt in every rank:\n";
    for (const SettingInfo& setting : setting_table()) {
        text += fmt::format("\n{} ({}, else {})\n  ", setting.name, setting.type, setting.standard);
        append_wrapped(text, setting.help, 2);
        text += "  Valid: ";
        append_wrapped(text, setting.valid, 2);
    }
    return text;
}

}  // namespace dlrt::launcher
