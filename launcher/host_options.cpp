// SPDX-License-Identifier: Apache-2.0
/// Options that say how other hosts are reached.
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"
#include "launcher/remote_command.hpp"
#include "runtime/base/error_text.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;
constexpr std::uint64_t launch_width_max = 1024;
constexpr std::uint64_t port_max = 65'535;
constexpr std::uint64_t control_width_max = 1024;
constexpr std::uint64_t simulated_hosts_max = 4096;
constexpr std::uint64_t simulated_slots_max = 1024;

Status apply_launcher_cmd(ParseState& state, const OptionUse& use) {
    Result<LauncherTemplate> launcher = parse_launcher_template(use.value);
    if (!launcher) return refuse_value(use, std::string(last_error_text()));
    state.options.launcher_words = std::move(launcher->words);
    return {};
}

Status apply_launch_width(ParseState& state, const OptionUse& use) {
    state.options.launch_width = static_cast<std::uint32_t>(use.number);
    return {};
}

/// A setting of the library, for every program.
void set_for_ranks(ParseState& state, const char* name, std::string_view value) {
    state.edits_of_all.push_back({EnvironmentEdit::Kind::assign, name, std::string(value)});
}

Status apply_iface(ParseState& state, const OptionUse& use) {
    for (std::string_view entry : split_list(use.value, ',')) {
        if (entry.starts_with('^')) entry.remove_prefix(1);
        if (entry.empty() || entry.find_first_of(" \t^") != std::string_view::npos) {
            return refuse_value(use);
        }
    }
    set_for_ranks(state, "DLRT_TCP_INTERFACES", use.value);
    return {};
}

Status apply_port_range(ParseState& state, const OptionUse& use) {
    const std::size_t dash = use.value.find('-');
    const auto first = parse_whole_number(use.value.substr(0, dash));
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_whole_number(use.value.substr(dash + 1));
    if (!first || !last || *first < 1 || *last > port_max || *first > *last) {
        return refuse_value(use);
    }
    state.options.port_first = static_cast<std::uint32_t>(*first);
    state.options.port_last = static_cast<std::uint32_t>(*last);
    set_for_ranks(state, "DLRT_TCP_PORTS", use.value);
    return {};
}

Status apply_ip(ParseState& state, const OptionUse& use) {
    set_for_ranks(state, "DLRT_TCP_FAMILY", use.value);
    return {};
}

Status apply_control(ParseState& state, const OptionUse& use) {
    state.options.control = static_cast<ControlWay>(use.number);
    return {};
}

Status apply_control_width(ParseState& state, const OptionUse& use) {
    state.options.control_width = static_cast<std::uint32_t>(use.number);
    return {};
}

/// N[xC]
Status apply_sim_nodes(ParseState& state, const OptionUse& use) {
    const std::size_t cross = use.value.find('x');
    const auto hosts = parse_whole_number(use.value.substr(0, cross));
    const auto slots = cross == std::string_view::npos
                           ? std::optional<std::uint64_t>(1)
                           : parse_whole_number(use.value.substr(cross + 1));
    if (!hosts || !slots || *hosts < 1 || *slots < 1 || *hosts > simulated_hosts_max ||
        *slots > simulated_slots_max) {
        return refuse_value(use);
    }
    state.options.simulated_hosts = static_cast<std::uint32_t>(*hosts);
    state.options.simulated_slots = static_cast<std::uint32_t>(*slots);
    // What --iface says comes behind it, and holds.
    state.edits_of_all.insert(
        state.edits_of_all.begin(), {EnvironmentEdit::Kind::assign, "DLRT_TCP_INTERFACES", "lo"}
    );
    return {};
}

constexpr OptionRule rules[] = {
    {.name = "launcher-cmd",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value =
         {Kind::form, "'COMMAND {host}'",
          "a command with {host} in it, and {user} and {port} where needed: 'rsh {host}'"},
     .help =
         "start the daemons of other hosts by this command instead of ssh; the daemon's command "
         "line follows it, and it passes input and output on",
     .apply = apply_launcher_cmd},
    {.name = "launch-width",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value = {Kind::number, "N", "hosts", 1, launch_width_max},
     .help = "start so many daemons at a time (16)",
     .apply = apply_launch_width},
    {.name = "control",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value = {Kind::choice, "auto|pipe|tree", "", 0, 0, "auto|pipe|tree"},
     .help =
         "how daemons are talked with: each over the connection that started it (pipe), or through "
         "a tree of TCP connections among them; auto is a tree beyond 64 hosts",
     .apply = apply_control},
    {.name = "control-width",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value = {Kind::number, "N", "children", 1, control_width_max},
     .help = "in a tree each daemon has so many children (32)",
     .apply = apply_control_width},
    {.name = "sim-nodes",
     .aliases = "sim-hosts",
     .group = OptionGroup::hosts,
     .value = {Kind::form, "N[xC]", "1 to 4096 hosts, with xC so many slots of each: 64, 64x4"},
     .help =
         "for tests and for learning: N daemons on this host, each playing a host with C slots (1)",
     .apply = apply_sim_nodes},
    {.name = "iface",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value =
         {Kind::form, "LIST",
          "interfaces or networks, eth0,10.0.0.0/8; with ^ before them all others"},
     .help = "ranks of different hosts talk over these interfaces only",
     .apply = apply_iface},
    {.name = "port-range",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value = {Kind::form, "FIRST-LAST", "ports from 1 to 65535, 20000-20999"},
     .help = "ranks, and daemons in a tree, listen on these ports only",
     .apply = apply_port_range},
    {.name = "ip",
     .aliases = "",
     .group = OptionGroup::hosts,
     .value = {Kind::choice, "any|ipv4|ipv6", "", 0, 0, "any|ipv4|ipv6"},
     .help = "ranks of different hosts talk over this version of the internet protocol only",
     .apply = apply_ip},
};

}  // namespace

std::span<const OptionRule> host_options() {
    return rules;
}

}  // namespace dlrt::launcher
