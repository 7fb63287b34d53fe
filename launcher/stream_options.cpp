// SPDX-License-Identifier: Apache-2.0
/// Options that say what ranks read, and where what they write goes.
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"
#include "runtime/base/error_text.hpp"

#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;
constexpr std::string_view usual_tag = "[%r] ";

Status apply_stdin(ParseState& state, const OptionUse& use) {
    StdinChoice& choice = state.options.stdin_choice;
    if (use.value == "none" || use.value == "all") {
        choice.kind = use.value == "none" ? StdinChoice::Kind::none : StdinChoice::Kind::all;
        return {};
    }
    if (use.value.find_first_not_of("0123456789") != std::string_view::npos) {
        choice.kind = StdinChoice::Kind::file;
        choice.file = use.value;
        return {};
    }
    // Whether the job has that rank is known once its size is.
    choice.rank = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(parse_whole_number(use.value).value_or(UINT32_MAX), UINT32_MAX)
    );
    return {};
}

Status apply_tag(ParseState& state, const OptionUse&) {
    std::string& format = state.options.output.tag_format;
    if (format.empty()) format = usual_tag;
    return {};
}

Status refuse_sign(const OptionUse& use, std::string_view sign) {
    return refuse_value(use, fmt::format("'{}' stands for nothing", sign));
}

Status apply_tag_format(ParseState& state, const OptionUse& use) {
    if (const auto wrong = find_wrong_sign(use.value)) return refuse_sign(use, *wrong);
    state.options.output.tag_format = use.value;
    return {};
}

Status apply_timestamp(ParseState& state, const OptionUse&) {
    state.options.output.has_timestamps = true;
    return {};
}

Status apply_merge_stderr(ParseState& state, const OptionUse&) {
    state.options.output.merges_stderr = true;
    return {};
}

/// The words that Open MPI's --output takes. Returns whether it is one.
bool apply_familiar_output(ParseState& state, const OptionUse& use, std::string_view word) {
    if (word == "tag") return apply_tag(state, use).ok();
    if (word == "timestamp") return apply_timestamp(state, use).ok();
    if (word == "merge-stderr-to-stdout") return apply_merge_stderr(state, use).ok();
    return false;
}

Status apply_output(ParseState& state, const OptionUse& use) {
    std::string& pattern = state.options.output.file_pattern;
    bool is_all_familiar = true;
    for (const std::string_view word : split_list(use.value, ',')) {
        std::string_view name = word;
        const bool is_path = word.starts_with("dir=") || word.starts_with("file=");
        if (is_path) {
            name.remove_prefix(word.find('=') + 1);
            if (name.empty()) return refuse_value(use);
            pattern = name;
            // A folder that isn't there yet looks like a file's name.
            if (word.starts_with("dir=") && !pattern.ends_with('/')) pattern += '/';
        }
        is_all_familiar = is_all_familiar && (is_path || apply_familiar_output(state, use, word));
    }
    if (!is_all_familiar) pattern = use.value;
    if (const auto wrong = find_wrong_sign(pattern)) return refuse_sign(use, *wrong);
    return {};
}

Status apply_tee(ParseState& state, const OptionUse&) {
    state.options.output.is_teed = true;
    return {};
}

Status apply_show(ParseState& state, const OptionUse& use) {
    Result<RankSet> ranks = RankSet::parse(use.value);
    if (!ranks) return refuse_value(use);
    state.options.output.shown_ranks = std::move(*ranks);
    return {};
}

constexpr std::string_view signs =
    "%r rank, %R local rank, %h host, %p pid, %s out or err, %b block, %j job, %% itself; "
    "%3r pads with zeros";

constexpr OptionRule rules[] = {
    {.name = "stdin",
     .aliases = "input",
     .group = OptionGroup::streams,
     .value = {Kind::form, "RANK|all|none|FILE", "a rank, 'all', 'none' or a file"},
     .help = "which rank reads the input (0), all of them or none, or what rank 0 reads",
     .apply = apply_stdin},
    {.name = "tag",
     .aliases = "l label tag-output prepend-rank label-io",
     .group = OptionGroup::streams,
     .repeat = OptionRepeat::harmless,
     .help = "begin every line of output with its rank: '[3] '",
     .apply = apply_tag},
    {.name = "tag-format",
     .aliases = "",
     .group = OptionGroup::streams,
     .value = {Kind::form, "FORMAT", signs},
     .help = "what every line begins with: %r rank, %R rank on its host, %h host, %p pid, %s out "
             "or err, %b block, %j job, %% itself; %3r pads with zeros",
     .apply = apply_tag_format},
    {.name = "timestamp",
     .aliases = "timestamp-output timestamps",
     .group = OptionGroup::streams,
     .repeat = OptionRepeat::harmless,
     .help = "begin every line with the time when it was read",
     .apply = apply_timestamp},
    {.name = "output",
     .aliases = "output-filename",
     .group = OptionGroup::streams,
     .value = {Kind::form, "FOLDER|PATTERN", signs},
     .help = "write output to files: in a folder, or named by the signs of --tag-format",
     .apply = apply_output},
    {.name = "tee",
     .aliases = "",
     .group = OptionGroup::streams,
     .repeat = OptionRepeat::harmless,
     .help = "with --output, also write here",
     .apply = apply_tee},
    {.name = "show",
     .aliases = "output-from",
     .group = OptionGroup::streams,
     .value = {Kind::form, "RANKS", "a list of ranks like 0-3,7"},
     .help = "of these ranks only, write output here",
     .apply = apply_show},
    {.name = "merge-stderr",
     .aliases = "merge-stderr-to-stdout",
     .group = OptionGroup::streams,
     .repeat = OptionRepeat::harmless,
     .help = "let standard error of ranks join their standard output",
     .apply = apply_merge_stderr},
};

}  // namespace

std::span<const OptionRule> stream_options() {
    return rules;
}

}  // namespace dlrt::launcher
