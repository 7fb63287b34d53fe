// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_rule.hpp"

#include "runtime/base/error_text.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

OutputSurroundings here() {
    OutputSurroundings surroundings;
    surroundings.working_directory = "/runs/100%";
    return surroundings;
}

OutputChoice files(std::string pattern) {
    OutputChoice choice;
    choice.file_pattern = std::move(pattern);
    return choice;
}

OutputRule rule_of(const OutputChoice& choice, const OutputSurroundings& surroundings = here()) {
    const Result<OutputRule> rule = make_output_rule(choice, surroundings);
    INFO((rule ? "" : last_error_text()));
    REQUIRE(rule.has_value());
    return *rule;
}

std::string refusal(const OutputChoice& choice, const OutputSurroundings& surroundings = here()) {
    const Result<OutputRule> rule = make_output_rule(choice, surroundings);
    REQUIRE(!rule.has_value());
    return last_error_text();
}

}  // namespace

TEST_CASE("output rule: without a choice all goes to the head as it is", "[launcher]") {
    const OutputRule rule = rule_of({});
    CHECK(rule.file_pattern.empty());
    CHECK(rule.file_tags.empty());
    CHECK(!rule.has_file_times);
    CHECK(!rule.merges_stderr);
    CHECK(!rule.passes_prompts);
    CHECK(rule.forwarded_ranks.contains(0));
    CHECK(rule.forwarded_ranks.contains(UINT32_MAX));
}

TEST_CASE("output rule: output in files goes there only, unless it is teed", "[launcher]") {
    OutputChoice choice = files("/logs/%r.%s");
    CHECK(rule_of(choice).forwarded_ranks.is_empty());
    choice.is_teed = true;
    CHECK(rule_of(choice).forwarded_ranks.contains(3));
}

TEST_CASE("output rule: shown ranks are shown, with files too, and only they", "[launcher]") {
    OutputChoice choice;
    choice.shown_ranks = RankSet({{1, 2}});
    CHECK(rule_of(choice).forwarded_ranks == RankSet({{1, 2}}));
    choice.file_pattern = "/logs/%r";
    CHECK(rule_of(choice).forwarded_ranks == RankSet({{1, 2}}));
    choice.is_teed = true;
    CHECK(rule_of(choice).forwarded_ranks == RankSet({{1, 2}}));
}

TEST_CASE("output rule: a file's name is the caller's, whatever is in it", "[launcher]") {
    CHECK(rule_of(files("/logs/%r")).file_pattern == "/logs/%r");
    CHECK(rule_of(files("logs/%r")).file_pattern == "/runs/100%%/logs/%r");
    CHECK(rule_of(files("logs/")).file_pattern == "/runs/100%%/logs/%r.%s");
}

TEST_CASE("output rule: lines of several ranks in one file are tagged", "[launcher]") {
    CHECK(rule_of(files("/all")).file_tags == "[%r] ");
    CHECK(rule_of(files("/all.%s.%h.%j")).file_tags == "[%r] ");
    CHECK(rule_of(files("/one.%03r")).file_tags.empty());
    CHECK(rule_of(files("/one.%R")).file_tags.empty());
    OutputSurroundings hosts = here();
    hosts.host_count = 2;
    CHECK(rule_of(files("/two.%R"), hosts).file_tags == "[%r] ");
    CHECK(rule_of(files("/one.%h.%R"), hosts).file_tags.empty());
}

TEST_CASE("output rule: tags and times that are asked for hold for files", "[launcher]") {
    OutputChoice choice = files("/one.%r");
    choice.tag_format = "%h: ";
    choice.has_timestamps = true;
    CHECK(rule_of(choice).file_tags == "%h: ");
    CHECK(rule_of(choice).has_file_times);
    choice.file_pattern = "/all";
    CHECK(rule_of(choice).file_tags == "%h: ");
}

TEST_CASE("output rule: what can't be done is refused with what can", "[launcher]") {
    CHECK(refusal(files("/x.%q")).starts_with("--output: '%q' in '/x.%q' is unknown; valid are"));
    CHECK(refusal(files("/x.%p")).starts_with("--output: '/x.%p' has %p, but files are opened"));
    OutputChoice choice;
    choice.tag_format = "%";
    CHECK(refusal(choice).starts_with("--tag-format: '%' in '%' is unknown"));
    OutputSurroundings nowhere = here();
    nowhere.working_directory = "";
    CHECK(refusal(files("x"), nowhere).starts_with("--output: the current folder has been deleted")
    );
    CHECK(rule_of(files("/x"), nowhere).file_pattern == "/x");
}

TEST_CASE("output rule: questions pass only where the input is a terminal", "[launcher]") {
    OutputSurroundings terminal = here();
    terminal.is_stdin_terminal = true;
    CHECK(rule_of({}, terminal).passes_prompts);
    OutputChoice choice;
    choice.merges_stderr = true;
    CHECK(rule_of(choice, terminal).merges_stderr);
}

TEST_CASE("output rule: dlrun's streams get the tags that were asked for", "[launcher]") {
    JobMap map;
    map.hosts = {{"h", 1}};
    map.ranks = {{0, 0, 0, {}}, {0, 1, 0, {}}};
    OutputChoice choice = files("/all");
    CHECK(make_stream_tagger(choice, map).prefix_of({1, StreamKind::out, 9, 0}).empty());
    choice.tag_format = "<%02r> ";
    CHECK(make_stream_tagger(choice, map).prefix_of({1, StreamKind::out, 9, 0}) == "<01> ");
    choice.has_timestamps = true;
    CHECK(
        make_stream_tagger(choice, map).prefix_of({1, StreamKind::out, 9, 0}) ==
        "1970-01-01T00:00:00.000000Z <01> "
    );
}

}  // namespace dlrt::launcher
