// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.hpp"

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
              std::string("-np: '") + value +
                  "' is not valid; valid is a number of ranks, 1 to 1024"}}
        );
    }
    check_refusals({
        {{"-np"}, "-np: needs a value; valid is a number of ranks, 1 to 1024"},
        {{"-np", ":"}, "-np: needs a value; valid is a number of ranks, 1 to 1024"},
        {{"-np", "--tag", "a"}, "-np: needs a value; valid is a number of ranks, 1 to 1024"},
        {{"-np", "1", "-n", "2", "a"}, "-n: is given twice; valid is once"},
        {{"-np", "600", "a", ":", "-np", "600", "b"},
         "-np: 1200 ranks altogether are too many; valid are 1 to 1024"},
        {{"-np", "1", "a", ":", "b"},
         "-np: is missing for 'b'; with several programs each needs it"},
    });
}

TEST_CASE("options: a wrong time is refused", "[launcher]") {
    for (const char* value : {"0", "-1", "abc", "1s", "inf", "nan", "1e99", ""}) {
        check_refusals(
            {{{"--timeout", value, "a"},
              std::string("--timeout: '") + value +
                  "' is not valid; valid is a number of seconds, 0.001 to 1000000000"}}
        );
    }
    for (const char* value : {"-1", "abc", ""}) {
        check_refusals(
            {{{"--grace", value, "a"},
              std::string("--grace: '") + value +
                  "' is not valid; valid is a number of seconds, 0 to 1000000000"}}
        );
    }
    check_refusals({
        {{"--timeout"},
         "--timeout: needs a value; valid is a number of seconds, 0.001 to 1000000000"},
        {{"--grace", "1", "--grace", "1", "a"}, "--grace: is given twice; valid is once"},
        {{"-np", "1", "a", ":", "--timeout", "1", "-np", "1", "b"},
         "--timeout: holds for the whole job; valid before the first program"},
    });
}

TEST_CASE("options: a wrong change of the environment is refused", "[launcher]") {
    const std::string x_valid = "; valid is NAME or NAME=value; a NAME alone may hold * and ?";
    const std::string unset_valid = "; valid is the NAME of a variable, which may hold * and ?";
    check_refusals({
        {{"--env", "A", "a"}, "--env: 'A' is not valid; valid is NAME=value"},
        {{"--env", "=1", "a"}, "--env: '=1' is not valid, it has no name; valid is NAME=value"},
        {{"-x", "=1", "a"}, "-x: '=1' is not valid, it has no name" + x_valid},
        {{"-x", "", "a"}, "-x: '' is not valid" + x_valid},
        {{"-x", "A*=1", "a"},
         "-x: 'A*=1' is not valid, only a name without a value may hold *, ? and [" + x_valid},
        {{"--unset", "A=1", "a"}, "--unset: 'A=1' is not valid" + unset_valid},
        {{"--unset", "", "a"}, "--unset: '' is not valid" + unset_valid},
        {{"--env", "DLRT_RANK=1", "a"}, "--env: DLRT_RANK is set by dlrun itself for every rank"},
        {{"-x", "WORLD_SIZE", "a"}, "-x: WORLD_SIZE is set by dlrun itself for every rank"},
        {{"--env", "A=1", "--unset", "A", "a"},
         "--unset: A is given twice for one program, in different ways"},
        {{"--env", "A=1", "-x", "A=2", "a"},
         "-x: A is given twice for one program, in different ways"},
        {{"--env"}, "--env: needs a value; valid is NAME=value"},
        {{"-x"}, "-x: needs a value" + x_valid},
        {{"--unset"}, "--unset: needs a value" + unset_valid},
        {{"--env-all", "--env-none", "a"},
         "--env-none: contradicts --env-all; valid is one of them"},
        {{"-genvnone", "-genvall", "a"}, "-genvall: contradicts -genvnone; valid is one of them"},
        {{"-genv", "A"}, "-genv: needs two words; valid is NAME VALUE or NAME=VALUE"},
        {{"-genvlist", "A,B=1", "a"},
         "-genvlist: 'A,B=1' is not valid; valid is a list of names, A,B,C"},
    });
}

TEST_CASE("options: other wrong values are refused", "[launcher]") {
    check_refusals({
        {{"--wdir"}, "--wdir: needs a value; valid is a folder"},
        {{"--wdir", "", "a"}, "--wdir: '' is not valid; valid is a folder"},
        {{"--wdir", "a", "--wd", "b", "c"}, "--wd: is given twice; valid is once"},
        {{"--prefix", "/a:/b", "c"},
         "--prefix: '/a:/b' is not valid, a ':' can't stand in PATH; valid is a folder"},
        {{"--stdin"}, "--stdin: needs a value; valid is a rank, 'all', 'none' or a file"},
        {{"--stdin", "", "a"},
         "--stdin: '' is not valid; valid is a rank, 'all', 'none' or a file"},
        {{"--tag=1", "a"}, "--tag: takes no value, but got '1'"},
        {{"-v=2", "a"}, "-v: takes no value, but got '2'"},
        {{"--help=x"}, "--help: takes no value, but got 'x'"},
        {{"--version=x"}, "--version: takes no value, but got 'x'"},
        {{"--status", "A/b"},
         "--status: 'A/b' is not valid; valid is a job's id: small letters and digits"},
        {{"--status", "ab", "prog"}, "--status: shows a running job; it can't start one as well"},
        {{"-np", "2", "--status"}, "--status: shows a running job; it can't start one as well"},
        {{"--status", "--tag"}, "--status: shows a running job; it can't start one as well"},
        {{"--wrap", "'gdb", "a"},
         "--wrap: ''gdb' is not valid, it holds a ' that nothing closes; valid is "
         "[RANKS:]COMMAND such as '0,3:valgrind -q'"},
        {{"--wrap", "1-0:gdb", "a"},
         "--wrap: '1-0:gdb' is not valid, '1-0' names no ranks; valid is "
         "[RANKS:]COMMAND such as '0,3:valgrind -q'"},
        {{"--wrap", "0: ", "a"},
         "--wrap: '0: ' is not valid; valid is [RANKS:]COMMAND such as '0,3:valgrind -q'"},
        {{"--show", "all", "a"}, "--show: 'all' is not valid; valid is a list of ranks like 0-3,7"},
    });
}

TEST_CASE("options: wrong placements are refused", "[launcher]") {
    const std::string valid =
        "; valid is slot, host, numa, package, l3, core, hwthread, seq or "
        "ppr:K:OBJECT, each with :pe=K";
    for (const char* value :
         {"", "board", "ppr", "ppr:2", "ppr:0:core", "ppr:2:board", "ppr:x:core", "slot:pe=0",
          "slot:pe=", "slot:pe=x", "core:span", "core:pe=1:pe=2",
          "slot:oversubscribe:nooversubscribe"}) {
        INFO(value);
        CHECK(!parse_options(Words{"--map-by", value, "a"}));
        const std::string line(last_error_text());
        CHECK(line.find("--map-by: '") == 0);
        const bool is_named = line.find(valid) != std::string::npos ||
                              line.find("valid is one of them") != std::string::npos;
        CHECK(is_named);
    }
    check_refusals({
        {{"--rank-by", "x", "a"}, "--rank-by: 'x' is not valid; valid is one of slot, host, node"},
        {{"--bind-to", "board", "a"},
         "--bind-to: 'board' is not valid; valid is share, none, hwthread, core, l3, numa or "
         "package; with :if-supported it is a wish"},
        {{"--cpus-per-rank", "2", "--map-by", "core:pe=2", "a"},
         "--map-by: 'pe=2' and --cpus-per-rank say the same; valid is one of them"},
        {{"--map-by", "core:PE=2", "--cpus-per-rank", "2", "a"},
         "--cpus-per-rank: --map-by says it with pe=; valid is one of them"},
        {{"--oversubscribe", "--no-oversubscribe", "a"},
         "--no-oversubscribe: contradicts --oversubscribe; valid is one of them"},
        {{"--map-by", "slot:oversubscribe", "--no-oversubscribe", "a"},
         "--no-oversubscribe: contradicts --map-by"},
        {{"--bynode", "--map-by", "core", "a"},
         "--map-by: contradicts --bynode; valid is one of them"},
        {{"--host", "a", "--hostfile", "b", "c"},
         "--hostfile: contradicts --host; valid is one of them"},
        {{"--pernode", "--ppn", "1", "a"}, "--ppn: contradicts --pernode; valid is one of them"},
    });
}

TEST_CASE("options: what needs another option is refused without it", "[launcher]") {
    check_refusals({
        {{"--tee", "a"}, "--tee: needs --output, which says what files there are"},
        {{"--signal", "TERM@1", "a"}, "--signal: needs --timeout, before which it is sent"},
        {{"--signal", "TERM@2", "--timeout", "2", "a"},
         "--signal: 2 s before a --timeout of 2 s lie before the start"},
        {{"--dry-run", "--report", "r", "a"},
         "--report: nothing runs with --dry-run, so that it could tell"},
    });
}

TEST_CASE("options: wrong signals, formats and displays are refused", "[launcher]") {
    const std::string signal_valid = "; valid is a signal and seconds before --timeout, USR1@60";
    const std::string display_valid =
        "; valid is some of map,alloc,topo,bind; then :text, :json or, for topo and bind, :svg";
    check_refusals({
        {{"--signal", "TERM", "a"}, "--signal: 'TERM' is not valid" + signal_valid},
        {{"--signal", "TREM@1", "a"},
         "--signal: 'TREM@1' is not valid, there is no such signal" + signal_valid},
        {{"--signal", "0@1", "a"},
         "--signal: '0@1' is not valid, there is no such signal" + signal_valid},
        {{"--signal", "TERM@", "a"},
         "--signal: 'TERM@' is not valid, the seconds are none" + signal_valid},
        {{"--display", "mop", "a"},
         "--display: 'mop' is not valid, 'mop' can't be shown" + display_valid},
        {{"--display", "map,", "a"},
         "--display: 'map,' is not valid, '' can't be shown" + display_valid},
        {{"--display", "map:xml", "a"},
         "--display: 'map:xml' is not valid, there is no format 'xml'" + display_valid},
        {{"--display", "map:svg", "a"},
         "--display: 'map:svg' is not valid, only topo and bind can be drawn as svg" +
             display_valid},
    });
    for (const char* format : {"%", "%q", "x%", "%123r", "%r%5"}) {
        INFO(format);
        CHECK(!parse_options(Words{"--tag-format", format, "a"}));
        CHECK(!parse_options(Words{"--output", format, "a"}));
        CHECK(last_error_text().find("stands for nothing; valid is %r rank") != std::string::npos);
    }
}

TEST_CASE("options: unknown options are refused with the nearest name", "[launcher]") {
    check_refusals({
        {{"--tmeout", "3", "a"}, "option --tmeout is unknown; did you mean --timeout?"},
        {{"-nq", "3", "a"}, "option -nq is unknown; did you mean -np?"},
        {{"--evn=A=1", "a"}, "option --evn is unknown; did you mean --env?"},
        {{"--xyzzy", "core", "a"}, "option --xyzzy is unknown; 'dlrun --help' lists them"},
        {{"-4", "a"}, "option -4 is unknown; 'dlrun --help' lists them"},
        {{"---np", "2", "a"}, "option ---np is unknown; did you mean -np?"},
        {{"--=3", "a"}, "option -- is unknown; 'dlrun --help' lists them"},
    });
}

TEST_CASE("options: those of other launchers are answered with ours", "[launcher]") {
    check_refusals({
        {{"--mca", "btl", "tcp", "a"},
         "option --mca is not dlrun's; settings are variables of the environment, 'dlrun "
         "--help-env' lists them"},
        {{"-N", "2", "a"},
         "option -N is not dlrun's; valid are --ppn K for ranks on each host, --host or "
         "--hostfile for the hosts"},
        {{"-c", "2", "a"},
         "option -c is not dlrun's; valid are -np N for the number of ranks, --cpus-per-rank K "
         "for their cpus"},
        {{"--cpu-bind=cores", "a"}, "option --cpu-bind is not dlrun's; valid is --bind-to LEVEL"},
    });
}

TEST_CASE("options: a program must be there in every block", "[launcher]") {
    check_refusals({
        {{}, "a program to run is missing; 'dlrun --help' shows the usage"},
        {{"-np", "2"}, "a program to run is missing; 'dlrun --help' shows the usage"},
        {{"--"}, "a program to run is missing; 'dlrun --help' shows the usage"},
        {{":"}, "a program to run is missing beside ':'; 'dlrun --help' shows the usage"},
        {{"-np", "1", "a", ":"},
         "a program to run is missing beside ':'; 'dlrun --help' shows the usage"},
        {{"-np", "1", "a", ":", "-np", "1"},
         "a program to run is missing beside ':'; 'dlrun --help' shows the usage"},
    });
}

}  // namespace dlrt::launcher
