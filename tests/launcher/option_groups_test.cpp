// SPDX-License-Identifier: Apache-2.0
/// What every option sets, in its own spelling and in those of other launchers.
#include "launcher/options.hpp"
#include "runtime/base/error_text.hpp"

#include <csignal>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;

Options parsed(Words words) {
    words.emplace_back("a");
    Result<Options> options = parse_options(words);
    INFO(words[0] << ": " << last_error_text());
    REQUIRE(options.has_value());
    CHECK(options->blocks.back().arguments == Words{"a"});
    return std::move(*options);
}

Block block_of(Words words) {
    return parsed(std::move(words)).blocks.at(0);
}

}  // namespace

TEST_CASE("options: sizes and hosts arrive by each of their names", "[launcher]") {
    for (const char* name :
         {"-ppn", "--ppn", "-npernode", "--nproc-per-node", "--nproc_per_node", "--ntasks-per-node",
          "-perhost"}) {
        CHECK(parsed({name, "3"}).ranks_per_host == 3u);
    }
    CHECK(parsed({"-pernode"}).ranks_per_host == 1u);
    for (const char* name : {"-H", "--host", "-hosts"}) {
        CHECK(parsed({name, "h:2,i"}).hosts.host_lists == Words{"h:2,i"});
    }
    for (const char* name : {"-f", "--hostfile", "--machinefile", "-hostfile"}) {
        CHECK(parsed({name, "F", name, "G"}).hosts.files == Words{"F", "G"});
    }
    const Options options = parsed({"-H", "h", "-np", "1", "b", ":", "-H", "i,i", "-np", "2"});
    CHECK(options.hosts.host_lists == Words{"h", "i,i"});
}

TEST_CASE("options: the environment of programs arrives by each of its names", "[launcher]") {
    using Kind = EnvironmentEdit::Kind;
    CHECK(
        block_of({"-x", "OMP_*", "--unset", "A?", "--set-env", "B=", "-x", "OMP_*"})
            .environment_edits ==
        std::vector<EnvironmentEdit>{
            {Kind::forward, "OMP_*", ""}, {Kind::unset, "A?", ""}, {Kind::assign, "B", ""}}
    );
    CHECK(block_of({}).environment_base == EnvironmentBase::usual);
    CHECK(block_of({"--env-all"}).environment_base == EnvironmentBase::all);
    CHECK(block_of({"-envnone"}).environment_base == EnvironmentBase::none);
    CHECK(block_of({"--prefix", "/p q"}).prefix == "/p q");
    CHECK(block_of({"--chdir", "/p q"}).working_directory == "/p q");

    const Options options = parsed(
        {"-genv", "FLAGS", "-O2", "-genv", "K=V=W", "-genvlist", "C,D*", "-genvnone", "-env", "E=1",
         "-np", "1", "b", ":", "-envall", "-envlist", "F", "-np", "1"}
    );
    const std::vector<EnvironmentEdit> of_all = {
        {Kind::assign, "FLAGS", "-O2"},
        {Kind::assign, "K", "V=W"},
        {Kind::forward, "C", ""},
        {Kind::forward, "D*", ""}};
    std::vector<EnvironmentEdit> first = of_all;
    first.push_back({Kind::assign, "E", "1"});
    std::vector<EnvironmentEdit> second = of_all;
    second.push_back({Kind::forward, "F", ""});
    CHECK(options.blocks.at(0).environment_edits == first);
    CHECK(options.blocks.at(1).environment_edits == second);
    CHECK(options.blocks[0].environment_base == EnvironmentBase::none);
    CHECK(options.blocks[1].environment_base == EnvironmentBase::all);
}

TEST_CASE("options: wraps keep their order, ranks and quotes", "[launcher]") {
    const Block block = block_of(
        {"--wrap", "0,3-4:gdb --args", "--wrap", "perf record -o 'a b'", "--wrap", "C:\\\\x \"\""}
    );
    REQUIRE(block.wraps.size() == 3);
    CHECK(block.wraps[0].ranks.text() == "0,3-4");
    CHECK(block.wraps[0].command == Words{"gdb", "--args"});
    CHECK(block.wraps[1].ranks.is_empty());
    CHECK(block.wraps[1].command == Words{"perf", "record", "-o", "a b"});
    CHECK(block.wraps[2].command == Words{"C:\\x", ""});
}

TEST_CASE("options: placements arrive by each of their names", "[launcher]") {
    using MapKind = MappingChoice::Kind;
    const auto mapping = [](const char* value) { return parsed({"--map-by", value}).mapping; };
    CHECK(mapping("slot").kind == MapKind::slot);
    CHECK(mapping("node").kind == MapKind::host);
    CHECK(mapping("host").kind == MapKind::host);
    CHECK(mapping("seq").kind == MapKind::sequential);
    CHECK(mapping("socket").level == TopologyLevel::package);
    CHECK(mapping("l3cache").level == TopologyLevel::l3);
    CHECK(mapping("hwthread").kind == MapKind::object);
    CHECK(mapping("core:PE=2").cpus_per_rank == 2u);
    const MappingChoice ppr = mapping("ppr:4:numa:pe=3");
    CHECK(ppr.kind == MapKind::ppr);
    CHECK(ppr.per_object == 4);
    CHECK(ppr.level == TopologyLevel::numa);
    CHECK(ppr.cpus_per_rank == 3u);
    CHECK(!mapping("ppr:1:node").level);
    CHECK(parsed({"--map-by", ":OVERSUBSCRIBE"}).oversubscription == Oversubscription::allowed);
    CHECK(parsed({"--overcommit"}).oversubscription == Oversubscription::allowed);
    CHECK(parsed({"--nooversubscribe"}).oversubscription == Oversubscription::refused);
    CHECK(parsed({"-bynode"}).mapping.kind == MapKind::host);
    CHECK(parsed({"-cpus-per-proc", "4"}).mapping.cpus_per_rank == 4u);
    CHECK(parsed({"--rank-by", "node"}).ranking == Ranking::by_host);
    CHECK(parsed({"--rank-by", "slot"}).ranking == Ranking::by_slot);
}

TEST_CASE("options: bindings arrive, as orders or as wishes", "[launcher]") {
    using BindKind = BindingChoice::Kind;
    const auto binding = [](Words words) { return parsed(std::move(words)).binding; };
    CHECK(binding({}).kind == BindKind::share);
    CHECK(!binding({}).is_explicit);
    CHECK(binding({"--bind-to", "none"}).kind == BindKind::none);
    CHECK(binding({"--bind-to", "share"}).is_explicit);
    CHECK(binding({"--bind-to", "socket"}).level == TopologyLevel::package);
    CHECK(binding({"--bind-to", "l3"}).level == TopologyLevel::l3);
    CHECK(binding({"--bind-to", "core:if-supported"}).kind == BindKind::object);
    CHECK(!binding({"--bind-to", "core:if-supported"}).is_explicit);
    CHECK(binding({"-bind-to-socket"}).level == TopologyLevel::package);
    CHECK(binding({"-bind-to-none"}).kind == BindKind::none);
    CHECK(parsed({"--bind-memory", "interleave"}).memory_binding == MemoryBinding::interleave);
    CHECK(parsed({"--mem-bind", "local"}).memory_binding == MemoryBinding::local);
    CHECK(parsed({"--report-bindings"}).reports_bindings);
}

TEST_CASE("options: what goes in and out arrives by each of its names", "[launcher]") {
    CHECK(parsed({"--stdin", "all"}).stdin_choice.kind == StdinChoice::Kind::all);
    CHECK(parsed({"--input", "2"}).stdin_choice.rank == 2);
    CHECK(parsed({"--stdin", "99999999999999999999"}).stdin_choice.rank == UINT32_MAX);
    CHECK(parsed({"--tag-format", "%03r@%h "}).output.tag_format == "%03r@%h ");
    CHECK(parsed({"--tag-format", "%r|", "--tag"}).output.tag_format == "%r|");
    CHECK(parsed({"--tag", "--tag-format", "%r|"}).output.tag_format == "%r|");
    CHECK(parsed({"--timestamp-output"}).output.has_timestamps);
    CHECK(parsed({"--merge-stderr-to-stdout"}).output.merges_stderr);
    CHECK(parsed({"--output-filename", "d/%r.%s"}).output.file_pattern == "d/%r.%s");
    CHECK(parsed({"--output", "d", "--tee"}).output.is_teed);
    CHECK(parsed({"--show", "1,0"}).output.shown_ranks->text() == "0-1");
    const OutputChoice several = parsed({"--output", "tag,timestamp,dir=d/e"}).output;
    CHECK(several.tag_format == "[%r] ");
    CHECK(several.has_timestamps);
    CHECK(several.file_pattern == "d/e/");
    CHECK(parsed({"--output", "dir=d/"}).output.file_pattern == "d/");
    CHECK(parsed({"--output", "file=d"}).output.file_pattern == "d");
    CHECK(parsed({"--output", "tag"}).output.file_pattern.empty());
    CHECK(parsed({"--output", "./tag"}).output.file_pattern == "./tag");
}

TEST_CASE("options: times and failures arrive by each of their names", "[launcher]") {
    CHECK(parsed({"--start-timeout", "2.5"}).start_timeout_ms == 2500);
    CHECK(parsed({"--timeout", "0.1"}).timeout_ms == 100u);
    const auto signal = [](const char* value) {
        return parsed({"--timeout", "99", "--signal", value}).warning_signal.value();
    };
    CHECK(signal("TERM@1").signal == SIGTERM);
    CHECK(signal("SIGUSR1@0.5").before_ms == 500);
    CHECK(signal("10@60").signal == 10);
    CHECK(parsed({}).on_failure == OnFailure::kill);
    CHECK(parsed({"--on-fail", "wait"}).on_failure == OnFailure::wait);
    CHECK(parsed({"--on-failure=ignore"}).on_failure == OnFailure::ignore);
    CHECK(parsed({"-disable-auto-cleanup"}).on_failure == OnFailure::wait);
    CHECK(parsed({"--kill-on-bad-exit"}).on_failure == OnFailure::kill);
}

TEST_CASE("options: what shows something arrives by each of its names", "[launcher]") {
    const Display display = parsed({"--display", "topo,bind:svg"}).display;
    CHECK(display.topology);
    CHECK(display.binding);
    CHECK(!display.map);
    CHECK(display.format == Display::Format::svg);
    CHECK(parsed({"--display", "map:json"}).display.format == Display::Format::json);
    CHECK(parsed({"--display", "allocation", "--display-map"}).display.allocation);
    CHECK(parsed({"--display", "allocation", "--display-map"}).display.map);
    CHECK(parsed({}).display.is_empty());
    CHECK(parsed({"--do-not-launch"}).is_dry_run);
    CHECK(parsed({"--report", "r.json"}).report_file == "r.json");
    CHECK(parsed({"--show-progress"}).shows_progress);
    CHECK(parse_options(Words{"--help-env"})->action == Options::Action::show_settings);
    CHECK(parse_options(Words{"-V"})->action == Options::Action::show_version);
}

TEST_CASE("options: what changes nothing here is accepted without a word", "[launcher]") {
    const Options options = parsed({"--allow-run-as-root", "--standalone"});
    CHECK(options.blocks.at(0).environment_edits.empty());
}

}  // namespace dlrt::launcher
