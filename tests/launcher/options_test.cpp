// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.hpp"

#include "launcher/nearest_name.hpp"
#include "runtime/base/error_text.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;

Options parsed(const Words& words) {
    Result<Options> options = parse_options(words);
    INFO(last_error_text());
    REQUIRE(options.has_value());
    return std::move(*options);
}

struct Refusal {
    Words words;
    std::string line;
};

void check_refusals(const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) {
        std::string shown;
        for (const std::string& word : refusal.words) shown += "'" + word + "' ";
        INFO(shown);
        const Result<Options> options = parse_options(refusal.words);
        REQUIRE(!options.has_value());
        CHECK(options.error().code == Errc::argument);
        CHECK(last_error_text() == refusal.line);
        CHECK(last_error_text().find('\n') == std::string::npos);
    }
}

}  // namespace

TEST_CASE("options: the first word that is no option ends them", "[launcher]") {
    const Options options = parsed({"-np", "4", "ls", "-np", "5", "--tag"});
    CHECK(options.blocks.at(0).rank_count == 4u);
    CHECK(options.blocks[0].arguments == Words{"ls", "-np", "5", "--tag"});
    CHECK(options.output.tag_format.empty());
    CHECK(parsed({"--", "-odd", "x"}).blocks.at(0).arguments == Words{"-odd", "x"});
}

TEST_CASE("options: long names take one dash or two, values a blank or '='", "[launcher]") {
    const Words spellings[] = {
        {"-np", "3", "a"}, {"--np", "3", "a"}, {"-n", "3", "a"}, {"--n=3", "a"}, {"-np=3", "a"},
    };
    for (const Words& words : spellings) CHECK(parsed(words).rank_count() == 3u);
    for (const char* spelling : {"-wdir", "--wdir", "-wd", "--wd"}) {
        CHECK(parsed({spelling, "/x", "a"}).blocks.at(0).working_directory == "/x");
    }
    for (const char* spelling : {"--tag", "-tag", "-l", "--label"}) {
        CHECK(parsed({spelling, "a"}).output.tag_format == "[%r] ");
    }
    for (const char* spelling : {"-v", "--verbose", "-verbose"}) {
        CHECK(parsed({spelling, "a"}).is_verbose);
    }
}

TEST_CASE("options: every value arrives where it belongs", "[launcher]") {
    const Options options = parsed(
        {"--timeout", "1.5", "--grace", "0", "--stdin", "none", "--env", "A=b=c", "-x", "B", "-x",
         "C=", "--unset", "D", "prog"}
    );
    CHECK(options.timeout_ms == 1500u);
    CHECK(options.grace_ms == 0);
    CHECK(options.stdin_choice.kind == StdinChoice::Kind::none);
    using Kind = EnvironmentEdit::Kind;
    CHECK(
        options.blocks.at(0).environment_edits ==
        std::vector<EnvironmentEdit>{
            {Kind::assign, "A", "b=c"},
            {Kind::forward, "B", ""},
            {Kind::assign, "C", ""},
            {Kind::unset, "D", ""}}
    );
    CHECK(!options.rank_count());
    CHECK(parsed({"a"}).grace_ms == 5000);
    CHECK(parsed({"--stdin", "3", "a"}).stdin_choice.rank == 3);
    CHECK(parsed({"--stdin", "./3", "a"}).stdin_choice.file == "./3");
}

TEST_CASE("options: blocks have their own count, environment and folder", "[launcher]") {
    const Options options = parsed(
        {"--tag", "-np", "1", "--env", "A=1", "a", "x", ":", "-np", "2", "--wdir", "w", "b"}
    );
    REQUIRE(options.blocks.size() == 2);
    CHECK(options.rank_count() == 3u);
    CHECK(options.blocks[0].arguments == Words{"a", "x"});
    CHECK(options.blocks[1].arguments == Words{"b"});
    CHECK(options.blocks[1].environment_edits.empty());
    CHECK(options.blocks[1].working_directory == "w");
}

TEST_CASE("options: what shows something needs no program", "[launcher]") {
    CHECK(parsed({"--help"}).action == Options::Action::show_help);
    CHECK(parsed({"-h", "--nonsense"}).action == Options::Action::show_help);
    CHECK(parsed({"--version"}).action == Options::Action::show_version);
    CHECK(parsed({"--status"}).status_job.empty());
    CHECK(parsed({"--status", "ab12"}).status_job == "ab12");
    CHECK(parsed({"--status=ab12"}).action == Options::Action::show_status);
}

TEST_CASE("options: a wrong number of ranks is refused", "[launcher]") {
    for (const char* value :
         {"0", "-2", "abc", "99999999999", "1025", "1.5", " 1", "1 ", "", "0x2"}) {
        check_refusals(
            {{{"-np", value, "a"},
              std::string("-np: '") + value + "' is not a number of ranks; valid are 1 to 1024"}}
        );
    }
    check_refusals({
        {{"-np"}, "-np: needs a value, N"},
        {{"-np", ":"}, "-np: needs a value, N"},
        {{"-np", "--tag", "a"}, "-np: needs a value, N"},
        {{"-np", "1", "-n", "2", "a"}, "-n: is given twice"},
        {{"-np", "600", "a", ":", "-np", "600", "b"},
         "-np: 1200 ranks altogether are too many; valid are 1 to 1024"},
        {{"-np", "1", "a", ":", "b"}, "-np: is missing for 'b'; with ':' each program needs it"},
    });
}

TEST_CASE("options: a wrong time is refused", "[launcher]") {
    for (const char* value : {"0", "-1", "abc", "1s", "inf", "nan", "1e99", ""}) {
        check_refusals(
            {{{"--timeout", value, "a"},
              std::string("--timeout: '") + value +
                  "' is not a number of seconds; valid are 0.001 to 1000000000"}}
        );
    }
    for (const char* value : {"-1", "abc", ""}) {
        check_refusals(
            {{{"--grace", value, "a"},
              std::string("--grace: '") + value +
                  "' is not a number of seconds; valid are 0 to 1000000000"}}
        );
    }
    check_refusals({
        {{"--timeout"}, "--timeout: needs a value, SECONDS"},
        {{"--grace", "1", "--grace", "1", "a"}, "--grace: is given twice"},
        {{"-np", "1", "a", ":", "--timeout", "1", "-np", "1", "b"},
         "--timeout: holds for the whole job; valid before the first program"},
    });
}

TEST_CASE("options: a wrong change of the environment is refused", "[launcher]") {
    check_refusals({
        {{"--env", "A", "a"}, "--env: 'A' has no '='; valid is NAME=value"},
        {{"--env", "=1", "a"}, "--env: '=1' has no variable name; valid is NAME=value"},
        {{"-x", "=1", "a"}, "-x: '=1' has no variable name; valid is NAME=value"},
        {{"-x", "", "a"}, "-x: '' has no variable name; valid is NAME=value"},
        {{"--unset", "A=1", "a"}, "--unset: 'A=1' holds a '='; valid is the NAME of a variable"},
        {{"--unset", "", "a"}, "--unset: '' has no variable name; valid is NAME"},
        {{"--env", "DLRT_RANK=1", "a"}, "--env: DLRT_RANK is set by dlrun itself for every rank"},
        {{"-x", "WORLD_SIZE", "a"}, "-x: WORLD_SIZE is set by dlrun itself for every rank"},
        {{"--env", "A=1", "--unset", "A", "a"},
         "--unset: A is given twice in one block, in different ways"},
        {{"--env", "A=1", "-x", "A=2", "a"},
         "-x: A is given twice in one block, in different ways"},
        {{"--env"}, "--env: needs a value, NAME=value"},
        {{"-x"}, "-x: needs a value, NAME[=value]"},
        {{"--unset"}, "--unset: needs a value, NAME"},
    });
}

TEST_CASE("options: other wrong values are refused", "[launcher]") {
    check_refusals({
        {{"--wdir"}, "--wdir: needs a value, FOLDER"},
        {{"--wdir", "", "a"}, "--wdir: the folder's name is empty"},
        {{"--wdir", "a", "--wd", "b", "c"}, "--wd: is given twice"},
        {{"--stdin"}, "--stdin: needs a value, RANK|none|FILE"},
        {{"--stdin", "", "a"}, "--stdin: '' is not valid; valid are a rank, 'none' or a file"},
        {{"--tag=1", "a"}, "--tag: takes no value, but got '1'"},
        {{"-v=2", "a"}, "-v: takes no value, but got '2'"},
        {{"--help=x"}, "--help: takes no value, but got 'x'"},
        {{"--version=x"}, "--version: takes no value, but got 'x'"},
        {{"--status", "A/b"},
         "--status: 'A/b' is not a job's id; valid are small letters and digits"},
        {{"--status", "ab", "prog"}, "--status: shows a running job; it can't start one as well"},
        {{"-np", "2", "--status"}, "--status: shows a running job; it can't start one as well"},
    });
}

TEST_CASE("options: unknown options are refused with the nearest name", "[launcher]") {
    check_refusals({
        {{"--tmeout", "3", "a"}, "option --tmeout is unknown; did you mean --timeout?"},
        {{"-nq", "3", "a"}, "option -nq is unknown; did you mean -np?"},
        {{"--evn=A=1", "a"}, "option --evn is unknown; did you mean --env?"},
        {{"--bind-to", "core", "a"}, "option --bind-to is unknown; 'dlrun --help' lists them"},
        {{"-4", "a"}, "option -4 is unknown; 'dlrun --help' lists them"},
        {{"---np", "2", "a"}, "option ---np is unknown; did you mean -np?"},
        {{"--=3", "a"}, "option -- is unknown; 'dlrun --help' lists them"},
    });
}

TEST_CASE("options: a program must be there in every block", "[launcher]") {
    check_refusals({
        {{}, "a program to run is missing; 'dlrun --help' shows the usage"},
        {{"-np", "2"}, "a program to run is missing; 'dlrun --help' shows the usage"},
        {{"--"}, "a program to run is missing; 'dlrun --help' shows the usage"},
        {{":"}, "a program to run is missing beside ':'; 'dlrun --help' shows the usage"},
        {{"-np", "1", "a", ":"}, "a program to run is missing beside ':'"},
        {{"-np", "1", "a", ":", "-np", "1"},
         "a program to run is missing beside ':'; 'dlrun --help' shows the usage"},
    });
}

TEST_CASE("options: the help names every option once", "[launcher]") {
    const std::string help = help_text();
    for (const char* name :
         {"-np, -n N", "--env NAME=value", "-x NAME[=value]", "--unset NAME", "--wdir, -wd FOLDER",
          "--stdin RANK|none|FILE", "--tag, -l, --label", "--timeout SECONDS", "--grace SECONDS",
          "--status [JOB]", "--verbose, -v", "--help, -h", "--version"}) {
        INFO(name);
        const std::size_t first = help.find(std::string("  ") + name);
        CHECK(first != std::string::npos);
        CHECK(help.find(std::string("  ") + name, first + 1) == std::string::npos);
    }
}

TEST_CASE("nearest name: a misspelling is found, a different word is not", "[launcher]") {
    const std::string_view names[] = {"timeout", "np", "wdir"};
    CHECK(nearest_name("timeuot", names) == "timeout");
    CHECK(nearest_name("time", names).empty());
    CHECK(nearest_name("nq", names) == "np");
    CHECK(nearest_name("xy", names).empty());
    CHECK(nearest_name("dir", names) == "wdir");
    CHECK(nearest_name("", names).empty());
}

}  // namespace dlrt::launcher
