// SPDX-License-Identifier: Apache-2.0
/// The table of settings and the readers of their types.
#include "runtime/base/config.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"
#include "runtime/base/size_range.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace dlrt {
namespace {

constexpr std::uint32_t eager_bytes_max = 1U << 20U;
constexpr std::uint64_t heap_bytes_max = std::uint64_t{1} << 40U;
constexpr std::uint32_t spin_us_max = 1'000'000;
constexpr std::uint32_t join_timeout_s_max = 86'400;
constexpr std::uint32_t tcp_sockets_max = 4;

constexpr std::array<std::string_view, 3> protocol_names = {
    "eager", "rendezvous-read", "rendezvous-stream"};
constexpr std::array<std::string_view, 4> log_level_names = {"error", "warning", "info", "debug"};
constexpr std::array<std::string_view, 3> socket_family_names = {"any", "ipv4", "ipv6"};

std::optional<bool> parse_bool(std::string_view text) {
    if (text == "1" || text == "yes" || text == "on" || text == "true") return true;
    if (text == "0" || text == "no" || text == "off" || text == "false") return false;
    return std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
    return value;
}

template<std::size_t N>
std::optional<std::size_t> find_name(
    const std::array<std::string_view, N>& names, std::string_view text
) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
}

/// Why a value can't be; empty when it was taken.
using Complaint = std::string;

Complaint parse_protocol_rule(std::string_view item, ProtocolRule& rule) {
    const std::size_t at = item.find('@');
    std::string_view name = item.substr(0, at);
    rule.is_excluded = name.starts_with('^');
    if (rule.is_excluded) name.remove_prefix(1);
    const auto index = find_name(protocol_names, name);
    if (!index) {
        const std::string_view near = nearest_name(name, protocol_names);
        if (near.empty()) return fmt::format("'{}' is no protocol", name);
        return fmt::format("'{}' is no protocol, did you mean {}?", name, near);
    }
    rule.protocol = static_cast<Protocol>(*index);
    if (at == std::string_view::npos) return {};
    const auto range = parse_size_range(item.substr(at + 1));
    if (!range) return fmt::format("'{}' is no range of sizes", item.substr(at + 1));
    rule.size_bytes_min = range->begin_bytes;
    rule.size_bytes_end = range->end_bytes;
    return {};
}

Complaint parse_protocol_rules(std::string_view text, std::vector<ProtocolRule>& rules) {
    std::vector<ProtocolRule> parsed;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        ProtocolRule rule;
        if (auto complaint = parse_protocol_rule(text.substr(begin, comma - begin), rule);
            !complaint.empty()) {
            return complaint;
        }
        parsed.push_back(rule);
        begin = comma + 1;
    }
    rules = std::move(parsed);
    return {};
}

Complaint take_bool(std::string_view text, bool& target) {
    const auto value = parse_bool(text);
    if (!value) return "not a boolean";
    target = *value;
    return {};
}

/// Where a number may lie.
struct NumberRange {
    std::uint32_t min, max;
};

template<typename Target>
Complaint take_number(std::optional<std::uint64_t> value, NumberRange range, Target& target) {
    if (!value) return "not a number";
    if (*value < range.min || *value > range.max) return "out of range";
    target = static_cast<std::uint32_t>(*value);
    return {};
}

/// Of "a,^b": nothing may be empty.
Complaint check_list(std::string_view text) {
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        const std::string_view item = text.substr(begin, comma - begin);
        if (item.empty() || item == "^") return "an item is empty";
        begin = comma + 1;
    }
    return {};
}

Complaint take_ports(std::string_view text, Settings& settings) {
    constexpr NumberRange ports = {1, 65535};
    const std::size_t dash = std::min(text.find('-'), text.size());
    std::uint32_t first = 0;
    if (auto complaint = take_number(parse_number(text.substr(0, dash)), ports, first);
        !complaint.empty()) {
        return complaint;
    }
    std::uint32_t last = first;
    if (dash < text.size()) {
        auto complaint = take_number(parse_number(text.substr(dash + 1)), ports, last);
        if (!complaint.empty()) return complaint;
    }
    if (last < first) return "the last is below the first";
    settings.tcp_port_first = static_cast<std::uint16_t>(first);
    settings.tcp_port_last = static_cast<std::uint16_t>(last);
    return {};
}

struct Setting {
    SettingInfo info;
    Complaint (*take)(std::string_view text, Settings& settings);
};

constexpr std::array<Setting, 19> settings_by_name = {{
    {{"DLRT_ALGO", "list", "by size and ranks", "COLLECTIVE:[^]NAME[@FROM-END],...;COLLECTIVE:...",
      "Which algorithms collectives use: for that many bytes, from FROM up to but not including "
      "END "
      "(k, m, g: powers of 1024), this one, or with ^ not that one. The first item that covers a "
      "size and keeps to the order of operands counts. dlsched list has the names."},
     [](std::string_view text, Settings& out) {
         out.algorithm_rules = text;
         return text.empty() ? Complaint("empty") : Complaint();
     }},
    {{"DLRT_CHECK", "boolean", "0", "0 or 1",
      "Report at finalize what was sent and never received and which handles were never freed."},
     [](std::string_view text, Settings& out) { return take_bool(text, out.is_checking); }},
    {{"DLRT_CMA", "boolean", "1", "0 or 1",
      "Let ranks of a host read each other's memory (cross-memory attach) where the system can."},
     [](std::string_view text, Settings& out) { return take_bool(text, out.allow_cross_memory); }},
    {{"DLRT_COLLECTIVE_TABLE", "path", "user's, system's, built in",
      "a file that dltune --collectives wrote",
      "The table that says which algorithms collectives use where DLRT_ALGO doesn't."},
     [](std::string_view text, Settings& out) {
         out.collective_table_path = text;
         return text.empty() ? Complaint("empty") : Complaint();
     }},
    {{"DLRT_COPY_TABLE", "path", "user's, system's, built in", "a file that dltune wrote",
      "The table that says which large messages between ranks of a host go which way."},
     [](std::string_view text, Settings& out) {
         out.copy_table_path = text;
         return text.empty() ? Complaint("empty") : Complaint();
     }},
    {{"DLRT_DETERMINISTIC", "boolean", "0", "0 or 1",
      "Reductions have the same bits for every number of elements, placement of ranks and root: "
      "only algorithms that combine ranks by one expression are used."},
     [](std::string_view text, Settings& out) { return take_bool(text, out.is_deterministic); }},
    {{"DLRT_EAGER_BYTES", "size", "the transport's", "0 to 1m (k, m: powers of 1024)",
      "Largest message that is sent without asking the receiver first."},
     [](std::string_view text, Settings& out) {
         return take_number(parse_size(text), {0, eager_bytes_max}, out.eager_bytes);
     }},
    {{"DLRT_EXPLAIN", "boolean", "0", "0 or 1",
      "Rank 0 of each communicator says which algorithm a collective uses, and why."},
     [](std::string_view text, Settings& out) { return take_bool(text, out.is_explaining); }},
    {{"DLRT_GROUPS", "groups", "by host",
      "4 (by fours), 2x4, 3+1+4, cyclic:3 (rank modulo 3) or 0-2,5/3,4 (ranks by group)",
      "Which ranks of the job hierarchical algorithms take for near each other."},
     [](std::string_view text, Settings& out) {
         out.groups = text;
         return text.empty() ? Complaint("empty") : Complaint();
     }},
    {{"DLRT_HEAP_BYTES", "size", "the host's memory", "0 to 1024g (k, m, g: powers of 1024)",
      "What dlrt_alloc gives a rank at most: memory that the ranks of a host read directly."},
     [](std::string_view text, Settings& out) {
         const auto size_bytes = parse_size(text);
         if (!size_bytes) return Complaint("not a number");
         if (*size_bytes > heap_bytes_max) return Complaint("out of range");
         out.heap_bytes = size_bytes;
         return Complaint();
     }},
    {{"DLRT_JOIN_TIMEOUT_S", "seconds", "300", "1 to 86400",
      "How long init waits for the launcher and, without a daemon, for the other ranks."},
     [](std::string_view text, Settings& out) {
         return take_number(parse_number(text), {1, join_timeout_s_max}, out.join_timeout_s);
     }},
    {{"DLRT_LOG", "level", "warning", "error, warning, info or debug",
      "What is logged to standard error: events of this level and of those before it."},
     [](std::string_view text, Settings& out) {
         const auto index = find_name(log_level_names, text);
         if (index) out.log_level = static_cast<LogLevel>(*index);
         return index ? Complaint() : Complaint("no level");
     }},
    {{"DLRT_PROGRESS_THREAD", "boolean", "0", "0 or 1",
      "A thread beside the program advances nonblocking operations while the program computes. It "
      "raises the thread level to DLRT_THREAD_MULTIPLE, so that each call takes a lock."},
     [](std::string_view text, Settings& out) { return take_bool(text, out.has_progress_thread); }},
    {{"DLRT_PROTO", "list", "by size and host",
      "[^]NAME[@FROM-END], separated by commas, NAME "
      "one of eager, rendezvous-read, rendezvous-stream",
      "How messages travel: for sizes from FROM up to but not including END (k, m, g: powers of "
      "1024) by this protocol, or with ^ not by it. The first item that covers a size counts."},
     [](std::string_view text, Settings& out) {
         return parse_protocol_rules(text, out.protocol_rules);
     }},
    {{"DLRT_SPIN_US", "microseconds", "by tenancy", "0 to 1000000",
      "How long a waiting rank polls before it lets go of its cpu."},
     [](std::string_view text, Settings& out) {
         return take_number(parse_number(text), {0, spin_us_max}, out.spin_us);
     }},
    {{"DLRT_TCP_FAMILY", "word", "any", "any, ipv4 or ipv6",
      "Which addresses ranks on different hosts use to reach each other."},
     [](std::string_view text, Settings& out) {
         const auto index = find_name(socket_family_names, text);
         if (index) out.tcp_family = static_cast<SocketFamily>(*index);
         return index ? Complaint() : Complaint("no family");
     }},
    {{"DLRT_TCP_INTERFACES", "list", "all that are up", "[^]NAME or [^]NETWORK/BITS,...",
      "Interfaces or networks whose addresses ranks tell other hosts, or with ^ don't tell: "
      "eth0,10.0.0.0/8 or ^docker0. Of those that are told each is tried."},
     [](std::string_view text, Settings& out) {
         out.tcp_interfaces = text;
         return check_list(text);
     }},
    {{"DLRT_TCP_PORTS", "range", "any free port", "1 to 65535: FIRST-LAST, or one port",
      "Ports on which ranks listen for those on other hosts: one for each rank of a host."},
     [](std::string_view text, Settings& out) { return take_ports(text, out); }},
    {{"DLRT_TCP_SOCKETS", "number", "1", "1 to 4",
      "Connections to a rank on another host over each network, for messages of 1 MiB and more. "
      "Several help where the network gives one connection only a part of its bandwidth."},
     [](std::string_view text, Settings& out) {
         return take_number(parse_number(text), {1, tcp_sockets_max}, out.tcp_sockets);
     }},
}};

Status unknown_setting(std::string_view name, std::span<const std::string_view> other_names) {
    std::vector<std::string_view> names(other_names.begin(), other_names.end());
    for (const Setting& setting : settings_by_name) names.push_back(setting.info.name);
    return fail(
        Errc::argument, "{}: dlrt has no such setting, {}", name, did_you_mean(name, names)
    );
}

bool covers(const ProtocolRule& rule, std::uint64_t size_bytes) {
    return size_bytes >= rule.size_bytes_min && size_bytes < rule.size_bytes_end;
}

}  // namespace

Protocol choose_protocol(
    std::span<const ProtocolRule> rules, std::uint64_t size_bytes, Protocol preferred,
    bool is_eager_possible
) {
    const auto is_possible = [&](Protocol protocol) {
        return protocol != Protocol::eager || is_eager_possible;
    };
    const auto is_allowed = [&](Protocol protocol) {
        return is_possible(protocol) && std::ranges::none_of(rules, [&](const ProtocolRule& rule) {
                   return rule.is_excluded && rule.protocol == protocol && covers(rule, size_bytes);
               });
    };
    for (const ProtocolRule& rule : rules) {
        if (!rule.is_excluded && covers(rule, size_bytes) && is_possible(rule.protocol)) {
            return rule.protocol;
        }
    }
    constexpr std::array others = {
        Protocol::rendezvous_stream, Protocol::rendezvous_read, Protocol::eager};
    if (is_allowed(preferred)) return preferred;
    const auto found = std::find_if(others.begin(), others.end(), is_allowed);
    return found != others.end() ? *found : Protocol::rendezvous_stream;
}

std::vector<SettingInfo> setting_table() {
    std::vector<SettingInfo> table;
    for (const Setting& setting : settings_by_name) table.push_back(setting.info);
    return table;
}

Result<Settings> read_settings(
    const char* const* environment, std::span<const std::string_view> other_names
) {
    Settings settings;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string_view line = *environment;
        if (!line.starts_with("DLRT_")) continue;
        const std::size_t equals = std::min(line.find('='), line.size());
        const std::string_view name = line.substr(0, equals);
        const std::string_view value = line.substr(std::min(equals + 1, line.size()));
        if (std::ranges::find(other_names, name) != other_names.end()) continue;
        const auto setting = std::ranges::find_if(settings_by_name, [&](const Setting& candidate) {
            return candidate.info.name == name;
        });
        if (setting == settings_by_name.end()) return unknown_setting(name, other_names);
        const Complaint complaint = setting->take(value, settings);
        if (!complaint.empty()) {
            return fail(
                Errc::argument, "{}={}: {}; valid is {}", name, value, complaint,
                setting->info.valid
            );
        }
    }
    return settings;
}

}  // namespace dlrt
