// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_rule.hpp"

#include "runtime/base/error_text.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::string_view usual_tag = "[%r] ";
/// Where the user names only a folder.
constexpr std::string_view usual_name = "%r.%s";

/// Lines of several ranks may meet in one file.
bool is_shared_by_ranks(const LineFormat& pattern, std::uint32_t host_count) {
    if (pattern.uses('r')) return false;
    return !pattern.uses('R') || (host_count > 1 && !pattern.uses('h'));
}

Status add_files(
    const OutputChoice& choice, const OutputSurroundings& surroundings, OutputRule& rule
) {
    std::string pattern = choice.file_pattern;
    std::error_code no_matter;
    const bool is_folder = std::filesystem::is_directory(pattern, no_matter);
    if (is_folder && pattern.back() != '/') pattern += '/';
    if (pattern.back() == '/') pattern += usual_name;
    const Result<LineFormat> format = LineFormat::parse(pattern);
    if (!format) return fail(Errc::argument, "--output: {}", std::string(last_error_text()));
    if (format->uses('p')) {
        return fail(
            Errc::argument,
            "--output: '{}' has %p, but files are opened before there are processes; valid are %r "
            "%R %h %s %b %j %%",
            choice.file_pattern
        );
    }
    rule.file_tags = choice.tag_format;
    rule.has_file_times = choice.has_timestamps;
    if (rule.file_tags.empty() && is_shared_by_ranks(*format, surroundings.host_count)) {
        rule.file_tags = usual_tag;
    }
    if (pattern[0] != '/') {
        if (surroundings.working_directory.empty()) {
            return fail(
                Errc::argument,
                "--output: the current folder has been deleted; valid is a path from / on"
            );
        }
        pattern.insert(0, escape_for_format(surroundings.working_directory) + '/');
    }
    rule.file_pattern = std::move(pattern);
    return {};
}

}  // namespace

Result<OutputRule> make_output_rule(
    const OutputChoice& choice, const OutputSurroundings& surroundings
) {
    OutputRule rule;
    rule.merges_stderr = choice.merges_stderr;
    rule.passes_prompts = surroundings.is_stdin_terminal;
    if (!LineFormat::parse(choice.tag_format)) {
        return fail(Errc::argument, "--tag-format: {}", std::string(last_error_text()));
    }
    if (!choice.file_pattern.empty()) {
        if (const Status status = add_files(choice, surroundings, rule); !status.ok())
            return status;
        if (!choice.is_teed) rule.forwarded_ranks = RankSet();
    }
    if (choice.shown_ranks) rule.forwarded_ranks = *choice.shown_ranks;
    return rule;
}

LineTagger make_stream_tagger(const OutputChoice& choice, const JobMap& map) {
    Result<LineFormat> format = LineFormat::parse(choice.tag_format);
    if (!format) return {};
    return {map, std::move(*format), choice.has_timestamps ? Timestamps::on : Timestamps::off};
}

}  // namespace dlrt::launcher
