// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_builder.hpp"

#include "launcher/host_facts.hpp"
#include "launcher/rank_environment.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <optional>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;

CallerContext context_of(Words environment = {"PATH=/bin", "PWD=/here"}) {
    return {std::move(environment), "/here", StdinKind::descriptor, "j1", "t1", 5000, "",
            allocation_of("h")};
}

HostFacts facts_of(std::vector<std::uint32_t> cpus) {
    HostFacts facts;
    facts.host_name = std::string("h");
    facts.usable_cpu_count = static_cast<std::uint32_t>(cpus.size());
    facts.cpus = std::move(cpus);
    facts.free_port = 4000;
    return facts;
}

BuiltJob built(const Words& words, const CallerContext& context, const HostFacts& facts) {
    const Result<Options> options = parse_options(words);
    REQUIRE(options.has_value());
    const std::vector<std::optional<HostFacts>> all = {facts};
    Result<BuiltJob> job = build_job(*options, context, all);
    INFO(last_error_text());
    REQUIRE(job.has_value());
    return std::move(*job);
}

std::string refusal(const Words& words, const CallerContext& context) {
    const Result<Options> options = parse_options(words);
    REQUIRE(options.has_value());
    const std::vector<std::optional<HostFacts>> all = {facts_of({0, 1})};
    REQUIRE(!build_job(*options, context, all));
    return last_error_text();
}

}  // namespace

TEST_CASE("job builder: without a number there is a rank for each usable cpu", "[launcher]") {
    const BuiltJob job = built({"a"}, context_of(), facts_of({2, 5, 6}));
    CHECK(job.map.size() == 3);
    CHECK(job.map.ranks[1].cpus == std::vector<std::uint32_t>{5});
    CHECK(job.warnings.empty());
    CHECK(job.start.master_port == 4000);
    CHECK(job.start.token == "t1");
    CHECK(decode_job_map(job.start.job_map).has_value());
}

TEST_CASE("job builder: more ranks than cpus run unbound, with one warning", "[launcher]") {
    const BuiltJob job = built({"-np", "3", "a"}, context_of(), facts_of({0}));
    CHECK(job.map.ranks[2].cpus.empty());
    CHECK(job.warnings == Words{"3 ranks share 1 usable cpu on h"});
}

TEST_CASE("job builder: folders become absolute and PWD follows --wdir", "[launcher]") {
    const auto program = [](const Words& words) {
        return built(words, context_of(), facts_of({0})).start.programs.at(0);
    };
    CHECK(program({"a"}).working_directory == "/here");
    CHECK(find_variable(program({"a"}).environment, "PWD") == "/here");
    CHECK(program({"--wdir", "sub", "a"}).working_directory == "/here/sub");
    CHECK(program({"--wdir", "/x y", "a"}).working_directory == "/x y");
    CHECK(find_variable(program({"--wdir", "/x y", "a"}).environment, "PWD") == "/x y");
}

TEST_CASE("job builder: a deleted folder is an error unless --wdir says another", "[launcher]") {
    CallerContext context = context_of();
    context.working_directory.clear();
    const std::string expected = "host " + local_host_name() +
                                 ": the current folder has been deleted; valid is --wdir FOLDER";
    CHECK(refusal({"a"}, context) == expected);
    CHECK(refusal({"--wdir", "sub", "a"}, context) == expected);
    CHECK(built({"--wdir", "/x", "a"}, context, facts_of({0})).map.size() == 1);
}

TEST_CASE("job builder: input for a rank that isn't there is refused", "[launcher]") {
    CHECK(
        refusal({"-np", "2", "--stdin", "2", "a"}, context_of()) ==
        "--stdin: the job has no such rank; valid are 0 to 1"
    );
    CHECK(
        refusal({"--stdin", "99999999999", "a"}, context_of()) ==
        "--stdin: the job has no such rank; valid are 0 to 1"
    );
    CHECK(built({"--stdin", "1", "a"}, context_of(), facts_of({0, 1})).start.stdin_rank == 1);
}

TEST_CASE("job builder: -x of what isn't set is a warning", "[launcher]") {
    const BuiltJob job = built({"-x", "NOT_THERE", "a"}, context_of(), facts_of({0}));
    CHECK(job.warnings == Words{"-x: NOT_THERE is not set here, so it isn't passed on"});
}

TEST_CASE("job builder: over hosts, rank 0's host is the meeting point", "[launcher]") {
    const Result<Options> options = parse_options(Words{"a"});
    REQUIRE(options.has_value());
    CallerContext context = context_of();
    AllocatedHost idle;
    idle.name = "idle";
    idle.slots = 0;
    AllocatedHost there;
    there.name = "alias";
    there.slots = 1;
    context.allocation.hosts.insert(context.allocation.hosts.begin(), {idle, there});
    HostFacts facts = facts_of({0});
    facts.address = "10.0.0.2";
    facts.free_port = 4001;
    const std::vector<std::optional<HostFacts>> all = {facts, facts, facts_of({0})};
    const Result<BuiltJob> job = build_job(*options, context, all);
    INFO(last_error_text());
    REQUIRE(job.has_value());
    CHECK(job->places == std::vector<std::uint32_t>{1, 2});
    CHECK(job->map.hosts[0].name == "alias");
    CHECK(job->start.master_address == "10.0.0.2");
    CHECK(job->start.master_port == 4001);
    CHECK(job->start.waits_for_others);
    // dlrun's own input is where dlrun runs.
    CHECK(job->start.stdin_kind == StdinKind::forwarded);
}

}  // namespace dlrt::launcher
