// SPDX-License-Identifier: Apache-2.0
/// Options that say how many ranks there are, on which hosts, and of which programs.
#include "launcher/option_table.hpp"
#include "runtime/wireup/host_segment.hpp"

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;

Status apply_np(ParseState& state, const OptionUse& use) {
    state.block().rank_count = static_cast<std::uint32_t>(use.number);
    return {};
}

Status apply_ppn(ParseState& state, const OptionUse& use) {
    state.options.ranks_per_host = static_cast<std::uint32_t>(use.number);
    return {};
}

Status apply_host(ParseState& state, const OptionUse& use) {
    state.options.hosts.host_lists.emplace_back(use.value);
    return {};
}

Status apply_hostfile(ParseState& state, const OptionUse& use) {
    state.options.hosts.files.emplace_back(use.value);
    return {};
}

Status apply_app(ParseState& state, const OptionUse& use) {
    state.app_file = use.value;
    return {};
}

constexpr OptionRule rules[] = {
    {.name = "np",
     .aliases = "n",
     .group = OptionGroup::size,
     .scope = OptionScope::block,
     .value = {Kind::number, "N", "ranks", 1, local_rank_count_max},
     .help = "number of ranks; without it one for each slot, or for each usable cpu",
     .apply = apply_np},
    {.name = "ppn",
     .aliases = "npernode perhost nproc-per-node nproc_per_node ntasks-per-node tasks-per-node",
     .group = OptionGroup::size,
     .value = {Kind::number, "K", "ranks of a host", 1, local_rank_count_max},
     .help = "number of ranks on each host",
     .apply = apply_ppn},
    {.name = "host",
     .aliases = "H hosts",
     .group = OptionGroup::size,
     .scope = OptionScope::anywhere,
     .repeat = OptionRepeat::adds,
     .choice = {},
     .value = {Kind::form, "HOST[:SLOTS],...", "a list like a:4,b,n[01-16]"},
     .help = "hosts and their slots; without a number a host has one for each usable cpu",
     .apply = apply_host},
    {.name = "hostfile",
     .aliases = "f machinefile nodefile default-hostfile",
     .group = OptionGroup::size,
     .repeat = OptionRepeat::adds,
     .value = {Kind::file, "FILE", "a file with a host in each line"},
     .help = "hosts and their slots, one in each line; without it that of DLRT_HOSTFILE",
     .apply = apply_hostfile},
    {.name = "app",
     .aliases = "configfile",
     .group = OptionGroup::size,
     .value = {Kind::file, "FILE", "a file with options and a program in each line"},
     .help = "read the programs from a file: what stands between two ':' is a line there",
     .apply = apply_app},
};

}  // namespace

std::span<const OptionRule> size_options() {
    return rules;
}

}  // namespace dlrt::launcher
