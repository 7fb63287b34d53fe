// SPDX-License-Identifier: Apache-2.0
/// The man page from the table of options.
#include "launcher/option_pages.hpp"
#include "runtime/base/config.hpp"

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// Text that roff must not take for its own.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '\\') {
            result += "\\e";
        } else if (letter == '-') {
            result += "\\-";
        } else if (letter == '\'') {
            result += "\\(aq";
        } else {
            result += letter;
        }
    }
    if (result.starts_with('.')) result.insert(0, "\\&");
    return result;
}

constexpr std::string_view synopsis =
    ".SH SYNOPSIS\n"
    ".B dlrun\n"
    "[\\fIoption\\fR]... \\fIprogram\\fR [\\fIargument\\fR]... [\\fB:\\fR [\\fIoption\\fR]... "
    "\\fIprogram\\fR [\\fIargument\\fR]...]...\n"
    ".br\n"
    ".B dlrun\n"
    "[\\fIoption\\fR]... \\fB\\-\\-app\\fR \\fIfile\\fR\n"
    ".br\n"
    ".B dlrun \\-\\-status\n"
    "[\\fIjob\\fR]\n";

constexpr std::string_view description =
    ".SH DESCRIPTION\n"
    "dlrun starts the ranks of a parallel program on this host, passes their output on and stays\n"
    "until every process of the job is gone.\n"
    ".PP\n"
    "Long names take one dash or two; a value is the next word, or follows after \\(oq=\\(cq. The\n"
    "first word that is no option, or \\fB\\-\\-\\fR, ends the options of a program. Options of a\n"
    "program hold for the one that follows; all others stand before the first program.\n"
    "Whatever is unknown, wrong or contradictory is refused in one line, and nothing is started.\n"
    ".SH OPTIONS\n";

constexpr std::string_view after_options =
    ".SH APP FILES\n"
    "A line of the file of \\fB\\-\\-app\\fR is what stands between two \\(oq:\\(cq of the "
    "command\n"
    "line. Blanks separate words; single and double quotes hold them together; a backslash takes\n"
    "the next character as it is. \\(oq#\\(cq at the begin of a word starts a comment. Nothing is\n"
    "expanded. What is wrong is named by file, line and column.\n"
    ".SH EXIT STATUS\n"
    "That of the first rank that failed, or 128 and the number of the signal that it died by;\n"
    "the low 8 bits of the code that a rank gave to abort, or 1 if they are 0.\n"
    "124 after \\fB\\-\\-timeout\\fR, 125 for wrong usage and if dlrun itself fails, 126 if a\n"
    "program can\\(aqt be executed, 127 if it isn\\(aqt found, 128 and the number of the signal\n"
    "that dlrun got, 141 if the reader of its output went away.\n"
    ".SH ENVIRONMENT\n"
    "Ranks find \\fBDLRT_RANK\\fR, \\fBDLRT_SIZE\\fR, \\fBDLRT_LOCAL_RANK\\fR,\n"
    "\\fBDLRT_LOCAL_SIZE\\fR, \\fBDLRT_NODE_RANK\\fR, \\fBDLRT_NUM_NODES\\fR, \\fBDLRT_JOBID\\fR, "
    "and\n"
    "as programs under torchrun do \\fBRANK\\fR, \\fBWORLD_SIZE\\fR, \\fBLOCAL_RANK\\fR,\n"
    "\\fBLOCAL_WORLD_SIZE\\fR, \\fBGROUP_RANK\\fR, \\fBGROUP_WORLD_SIZE\\fR, \\fBMASTER_ADDR\\fR "
    "and\n"
    "\\fBMASTER_PORT\\fR.\n"
    "All other variables are passed on, but for those of other launchers and of the caller\\(aqs\n"
    "session and host: \\fBSSH_*\\fR, \\fBDISPLAY\\fR, \\fBHOSTNAME\\fR, \\fBTMPDIR\\fR,\n"
    "\\fBXDG_*\\fR except \\fBXDG_*_HOME\\fR, \\fBDBUS_*\\fR.\n"
    ".PP\n"
    "\\fBDLRT_HOSTFILE\\fR names the hostfile if neither \\fB\\-\\-host\\fR nor "
    "\\fB\\-\\-hostfile\\fR\n"
    "is given. The settings of ranks are variables too:\n";

std::string option_entry(const OptionRule& rule) {
    std::string names = fmt::format("\\fB{}\\fR", escaped(with_dashes(rule.name)));
    if (!rule.aliases.empty()) {
        for (const std::string_view alias : split_list(rule.aliases, ' ')) {
            names += fmt::format(", \\fB{}\\fR", escaped(with_dashes(alias)));
        }
    }
    if (!rule.value.name.empty()) names += fmt::format(" \\fI{}\\fR", escaped(rule.value.name));
    std::string text = fmt::format(".TP\n{}\n{}.\n", names, escaped(rule.help));
    const bool says_more = rule.value.kind == OptionValue::Kind::number ||
                           rule.value.kind == OptionValue::Kind::seconds ||
                           rule.value.kind == OptionValue::Kind::form;
    if (says_more) text += fmt::format("Valid: {}.\n", escaped(valid_values(rule)));
    return text;
}

}  // namespace

std::string man_page(std::string_view version) {
    std::string text = fmt::format(
        ".TH DLRUN 1 \"\" \"dlrt {}\" \"User Commands\"\n"
        ".SH NAME\ndlrun \\- start the ranks of a parallel program\n{}{}",
        version, synopsis, description
    );
    for (const OptionGroupTitle& group : option_group_titles()) {
        text += fmt::format(".SS {}\n", group.title);
        for (const OptionRule& rule : option_rules()) {
            if (rule.group == group.group) text += option_entry(rule);
        }
    }
    text += after_options;
    for (const SettingInfo& setting : setting_table()) {
        text += fmt::format(
            ".TP\n\\fB{}\\fR ({}, else {})\n{}\nValid: {}.\n", escaped(setting.name), setting.type,
            escaped(setting.standard), escaped(setting.help), escaped(setting.valid)
        );
    }
    return text;
}

}  // namespace dlrt::launcher
