// SPDX-License-Identifier: Apache-2.0
/// Spellings of other launchers: those that mean the same here and are more than another name, and
/// for those that don't, what to write instead.
#include "launcher/environment_edits.hpp"
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"

#include <algorithm>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;

Status apply_genv(ParseState& state, const OptionUse& use) {
    return add_edit(
        state.edits_of_all, use,
        {EnvironmentEdit::Kind::assign, std::string(use.value), std::string(use.second_value)}
    );
}

Status forward_list(std::vector<EnvironmentEdit>& edits, const OptionUse& use) {
    for (const std::string_view name : split_list(use.value, ',')) {
        if (name.find('=') != std::string_view::npos) return refuse_value(use);
        const Status status = add_edit(
            edits, use, {EnvironmentEdit::Kind::forward, std::string(name), ""}
        );
        if (!status.ok()) return status;
    }
    return {};
}

Status apply_genvlist(ParseState& state, const OptionUse& use) {
    return forward_list(state.edits_of_all, use);
}

Status apply_envlist(ParseState& state, const OptionUse& use) {
    return forward_list(state.block().environment_edits, use);
}

Status apply_genvall(ParseState& state, const OptionUse&) {
    state.environment_base_of_all = EnvironmentBase::all;
    return {};
}

Status apply_genvnone(ParseState& state, const OptionUse&) {
    state.environment_base_of_all = EnvironmentBase::none;
    return {};
}

Status apply_pernode(ParseState& state, const OptionUse&) {
    state.options.ranks_per_host = 1;
    return {};
}

Status map_by_slot(ParseState& state, const OptionUse&) {
    state.options.mapping.kind = MappingChoice::Kind::slot;
    return {};
}

Status map_by_host(ParseState& state, const OptionUse&) {
    state.options.mapping.kind = MappingChoice::Kind::host;
    return {};
}

Status bind_to_level(ParseState& state, TopologyLevel level) {
    state.options.binding = {BindingChoice::Kind::object, level, /*is_explicit=*/true};
    return {};
}

Status bind_to_core(ParseState& state, const OptionUse&) {
    return bind_to_level(state, TopologyLevel::core);
}

Status bind_to_package(ParseState& state, const OptionUse&) {
    return bind_to_level(state, TopologyLevel::package);
}

Status bind_to_none(ParseState& state, const OptionUse&) {
    state.options.binding = {BindingChoice::Kind::none, TopologyLevel::core, /*is_explicit=*/true};
    return {};
}

Status display_map(ParseState& state, const OptionUse&) {
    state.options.display.map = true;
    return {};
}

Status display_allocation(ParseState& state, const OptionUse&) {
    state.options.display.allocation = true;
    return {};
}

Status display_topology(ParseState& state, const OptionUse&) {
    state.options.display.topology = true;
    return {};
}

Status kill_on_failure(ParseState& state, const OptionUse&) {
    state.options.on_failure = OnFailure::kill;
    return {};
}

Status wait_on_failure(ParseState& state, const OptionUse&) {
    state.options.on_failure = OnFailure::wait;
    return {};
}

Status apply_nothing(ParseState&, const OptionUse&) {
    return {};
}

using Apply = Status (*)(ParseState&, const OptionUse&);

/// One that takes nothing and may be said again.
constexpr OptionRule flag(
    std::string_view names, std::string_view choice, std::string_view help, Apply apply
) {
    const std::size_t blank = names.find(' ');
    return {
        .name = names.substr(0, blank),
        .aliases = blank == std::string_view::npos ? "" : names.substr(blank + 1),
        .group = OptionGroup::familiar,
        .repeat = OptionRepeat::harmless,
        .choice = choice,
        .help = help,
        .apply = apply};
}

constexpr std::string_view list_of_names = "a list of names, A,B,C";

constexpr OptionRule rules[] = {
    {.name = "genv",
     .aliases = "",
     .group = OptionGroup::familiar,
     .repeat = OptionRepeat::adds,
     .value = {Kind::pair, "NAME VALUE", "NAME VALUE or NAME=VALUE"},
     .help = "--env for every program",
     .apply = apply_genv},
    {.name = "genvlist",
     .aliases = "",
     .group = OptionGroup::familiar,
     .repeat = OptionRepeat::adds,
     .value = {Kind::form, "NAME,...", list_of_names},
     .help = "-x for every program",
     .apply = apply_genvlist},
    {.name = "envlist",
     .aliases = "",
     .group = OptionGroup::familiar,
     .scope = OptionScope::block,
     .repeat = OptionRepeat::adds,
     .value = {Kind::form, "NAME,...", list_of_names},
     .help = "-x for each",
     .apply = apply_envlist},
    flag("genvall", "environment of all", "--env-all for every program", apply_genvall),
    flag("genvnone", "environment of all", "--env-none for every program", apply_genvnone),
    flag("pernode", "ppn", "--ppn 1", apply_pernode),
    flag("byslot by-slot", "mapping", "--map-by slot", map_by_slot),
    flag("bynode by-node byhost", "mapping", "--map-by host", map_by_host),
    flag("bind-to-core", "binding", "--bind-to core", bind_to_core),
    flag("bind-to-socket", "binding", "--bind-to package", bind_to_package),
    flag("bind-to-none", "binding", "--bind-to none", bind_to_none),
    flag("display-map", "", "--display map", display_map),
    flag("display-allocation", "", "--display alloc", display_allocation),
    flag("display-topo", "", "--display topo", display_topology),
    flag("kill-on-bad-exit", "failure", "--on-fail kill", kill_on_failure),
    flag("disable-auto-cleanup no-kill", "failure", "--on-fail wait", wait_on_failure),
    flag("allow-run-as-root", "", "root needs no permission", apply_nothing),
    flag("standalone", "", "a job on this host is nothing special", apply_nothing),
};

struct Answer {
    std::string_view names;  ///< Separated by blanks.
    std::string_view text;
};

constexpr std::string_view
    settings_answer = "settings are variables of the environment, 'dlrun --help-env' lists them";
constexpr std::string_view
    hosts_answer = "valid are --ppn K for ranks on each host, --host or --hostfile for the hosts";
constexpr std::string_view meeting_answer =
    "ranks find each other by themselves; valid is --env MASTER_ADDR=… or --env MASTER_PORT=… for "
    "a program that wants its own";
constexpr std::string_view mapping_answer = "valid are --map-by POLICY and --rank-by slot|host";

constexpr Answer answers[] = {
    {"mca gmca omca pmca prtemca pmixmca tune am gpmixmca runtime-options rtos", settings_answer},
    {"N nodes nnodes", hosts_answer},
    {"c", "valid are -np N for the number of ranks, --cpus-per-rank K for their cpus"},
    {"nodelist w add-host add-hostfile hosts-group", "valid are --host LIST and --hostfile FILE"},
    {"exclude nolocal", "valid is --host LIST with the hosts that shall be used"},
    {"ntasks tasks nprocs", "valid is -np N"},
    {"ntasks-per-socket ntasks-per-core npersocket", "valid is --map-by ppr:K:OBJECT"},
    {"distribution m rankmap rankfile rf plane", mapping_answer},
    {"use-hwthread-cpus", "valid is --bind-to hwthread"},
    {"soft arch initial-errhandler memory-alloc-kinds", "it has no meaning here; leave it out"},
    {"print-all-exitcodes", "valid is --report FILE"},
    {"tv ddt debug debugger xterm", "valid is --wrap [RANKS:]COMMAND, such as '0:gdb --args'"},
    {"cpu-bind cpu_bind binding numa-binding", "valid is --bind-to LEVEL"},
    {"bind-to-l3 bind-to-numa", "valid is --bind-to LEVEL"},
    {"export", "valid are -x NAME, --env-all and --env-none"},
    {"prepend-env append-env path", "valid is --env NAME=value, or --prefix FOLDER"},
    {"D", "valid is --wdir FOLDER"},
    {"gtool gtoolfile exec-agent fork-agent", "valid is --wrap [RANKS:]COMMAND"},
    {"prepend-pattern tag-detailed tag-fullname", "valid is --tag-format FORMAT"},
    {"local-ranks-filter", "valid is --show RANKS"},
    {"outfile-pattern errfile-pattern o e error log-dir log_dir redirects r",
     "valid is --output PATTERN, with %s in it for out and err"},
    {"xml", "valid are --report FILE and --display WHAT:json"},
    {"i s", "valid is --stdin RANK|all|none|FILE"},
    {"time t", "valid is --timeout SECONDS"},
    {"K W wait", "valid are --on-fail kill|wait|ignore and --grace SECONDS"},
    {"enable-recovery continuous max-restarts", "valid is --on-fail wait or ignore"},
    {"report-state-on-timeout get-stack-traces", "valid is --status, while the job runs"},
    {"display-devel-map report-uri output-proctable", "valid are --display map and --report FILE"},
    {"rmk launcher launcher-exec bootstrap launch-agent", "ranks run on this host only"},
    {"node-rank node_rank master-addr master_addr master-port master_port rdzv-endpoint "
     "rdzv_endpoint rdzv-backend rdzv_backend rdzv-id rdzv_id",
     meeting_answer},
    {"multi-prog file", "valid is --app FILE"},
    {"q quiet", "dlrun says nothing but what is wrong; valid is -v for more"},
    {"mpi pmi pmi-port", "valid are programs of dlrt"},
};

}  // namespace

std::span<const OptionRule> familiar_options() {
    return rules;
}

std::string_view answer_to_foreign_option(std::string_view name) {
    if (name.empty()) return {};
    for (const Answer& answer : answers) {
        const std::vector<std::string_view> names = split_list(answer.names, ' ');
        if (std::ranges::find(names, name) != names.end()) return answer.text;
    }
    return {};
}

}  // namespace dlrt::launcher
