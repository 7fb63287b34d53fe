// SPDX-License-Identifier: Apache-2.0
/// Options that say which rank runs where and on which cpus.
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/host_segment.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = OptionValue::Kind;
constexpr std::uint64_t cpus_per_rank_max = 65'536;

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char letter) {
        return static_cast<char>(std::tolower(letter));
    });
    return result;
}

/// "ppr", N, OBJECT
bool read_ppr(const std::vector<std::string_view>& parts, MappingChoice& mapping) {
    if (parts.size() < 3) return false;
    const auto count = parse_whole_number(parts[1]);
    if (!count || *count < 1 || *count > local_rank_count_max) return false;
    mapping.kind = MappingChoice::Kind::ppr;
    mapping.per_object = static_cast<std::uint32_t>(*count);
    if (parts[2] == "host" || parts[2] == "node") return true;
    mapping.level = parse_level(parts[2]);
    return mapping.level.has_value();
}

bool read_policy(std::string_view word, MappingChoice& mapping) {
    using enum MappingChoice::Kind;
    if (word.empty() || word == "slot") {
        mapping.kind = slot;
    } else if (word == "host" || word == "node") {
        mapping.kind = host;
    } else if (word == "seq" || word == "sequential") {
        mapping.kind = sequential;
    } else {
        mapping.kind = object;
        mapping.level = parse_level(word);
        return mapping.level.has_value();
    }
    return true;
}

bool read_mapping_modifier(std::string_view word, Options& options) {
    const std::string name = lower(word.substr(0, word.find('=')));
    if (name == "pe" && name.size() < word.size()) {
        const auto count = parse_whole_number(word.substr(name.size() + 1));
        if (!count || *count < 1 || *count > cpus_per_rank_max) return false;
        if (options.mapping.cpus_per_rank) return false;
        options.mapping.cpus_per_rank = static_cast<std::uint32_t>(*count);
        return true;
    }
    if (options.oversubscription != Oversubscription::by_rule) return false;
    if (lower(word) == "oversubscribe") options.oversubscription = Oversubscription::allowed;
    if (lower(word) == "nooversubscribe") options.oversubscription = Oversubscription::refused;
    return options.oversubscription != Oversubscription::by_rule;
}

Status apply_map_by(ParseState& state, const OptionUse& use) {
    const std::vector<std::string_view> parts = split_list(use.value, ':');
    MappingChoice& mapping = state.options.mapping;
    const bool is_ppr = parts[0] == "ppr";
    if (parts[0].empty() && parts.size() == 1) return refuse_value(use);
    if (!(is_ppr ? read_ppr(parts, mapping) : read_policy(parts[0], mapping))) {
        return refuse_value(use);
    }
    for (std::size_t i = is_ppr ? 3 : 1; i < parts.size(); ++i) {
        if (mapping.cpus_per_rank && lower(parts[i]).starts_with("pe=")) {
            return fail(
                Errc::argument, "{}: '{}' and --cpus-per-rank say the same; valid is one of them",
                use.spelling, parts[i]
            );
        }
        if (!read_mapping_modifier(parts[i], state.options)) return refuse_value(use);
    }
    return {};
}

Status apply_rank_by(ParseState& state, const OptionUse& use) {
    state.options.ranking = use.number == 0 ? Ranking::by_slot : Ranking::by_host;
    return {};
}

Status apply_bind_to(ParseState& state, const OptionUse& use) {
    BindingChoice& binding = state.options.binding;
    std::string_view word = use.value;
    constexpr std::string_view leave_to_us = ":if-supported";
    binding.is_explicit = !word.ends_with(leave_to_us);
    if (!binding.is_explicit) word.remove_suffix(leave_to_us.size());
    if (word == "share" || word == "none") {
        binding.kind = word == "share" ? BindingChoice::Kind::share : BindingChoice::Kind::none;
        return {};
    }
    const auto level = parse_level(word);
    if (!level) return refuse_value(use);
    binding.kind = BindingChoice::Kind::object;
    binding.level = *level;
    return {};
}

Status apply_cpus_per_rank(ParseState& state, const OptionUse& use) {
    if (state.options.mapping.cpus_per_rank) {
        return fail(
            Errc::argument, "{}: --map-by says it with pe=; valid is one of them", use.spelling
        );
    }
    state.options.mapping.cpus_per_rank = static_cast<std::uint32_t>(use.number);
    return {};
}

Status apply_bind_memory(ParseState& state, const OptionUse& use) {
    state.options.memory_binding = static_cast<MemoryBinding>(use.number);
    return {};
}

Status set_oversubscription(ParseState& state, const OptionUse& use, Oversubscription asked) {
    Oversubscription& choice = state.options.oversubscription;
    if (choice != Oversubscription::by_rule && choice != asked) {
        return fail(Errc::argument, "{}: contradicts --map-by", use.spelling);
    }
    choice = asked;
    return {};
}

Status apply_oversubscribe(ParseState& state, const OptionUse& use) {
    return set_oversubscription(state, use, Oversubscription::allowed);
}

Status apply_no_oversubscribe(ParseState& state, const OptionUse& use) {
    return set_oversubscription(state, use, Oversubscription::refused);
}

constexpr std::string_view map_by_valid =
    "slot, host, numa, package, l3, core, hwthread, seq or ppr:K:OBJECT, each with :pe=K";

constexpr OptionRule rules[] = {
    {.name = "map-by",
     .aliases = "",
     .group = OptionGroup::placement,
     .choice = "mapping",
     .value = {Kind::form, "POLICY[:pe=K]", map_by_valid},
     .help = "slot (fill hosts in turn), host, numa, package, l3, core, hwthread (round robin), "
             "ppr:K:OBJECT (K ranks on each), seq (a rank on each line of the hostfile)",
     .apply = apply_map_by},
    {.name = "rank-by",
     .aliases = "",
     .group = OptionGroup::placement,
     .value = {Kind::choice, "slot|host", "", 0, 0, "slot|host|node"},
     .help = "number ranks host by host (slot), or round robin over the hosts",
     .apply = apply_rank_by},
    {.name = "bind-to",
     .aliases = "",
     .group = OptionGroup::placement,
     .choice = "binding",
     .value =
         {Kind::form, "LEVEL",
          "share, none, hwthread, core, l3, numa or package; with :if-supported it is a wish"},
     .help = "cpus of a rank: an even share (share), none, or a hwthread, core, l3, numa, package",
     .apply = apply_bind_to},
    {.name = "cpus-per-rank",
     .aliases = "cpus-per-proc cpus-per-task",
     .group = OptionGroup::placement,
     .value = {Kind::number, "K", "cpus of a rank", 1, cpus_per_rank_max},
     .help = "number of cpus that each rank gets, as pe=K of --map-by",
     .apply = apply_cpus_per_rank},
    {.name = "bind-memory",
     .aliases = "mem-bind membind",
     .group = OptionGroup::placement,
     .value =
         {Kind::choice, "first-touch|local|interleave", "", 0, 0, "first-touch|local|interleave"},
     .help = "where memory comes from: the kernel's way, the rank's NUMA nodes only, or all of "
             "those page by page",
     .apply = apply_bind_memory},
    {.name = "oversubscribe",
     .aliases = "overcommit",
     .group = OptionGroup::placement,
     .repeat = OptionRepeat::harmless,
     .choice = "oversubscription",
     .help = "allow more ranks than slots",
     .apply = apply_oversubscribe},
    {.name = "no-oversubscribe",
     .aliases = "nooversubscribe",
     .group = OptionGroup::placement,
     .repeat = OptionRepeat::harmless,
     .choice = "oversubscription",
     .help = "refuse more ranks than slots, also on this host alone",
     .apply = apply_no_oversubscribe},
};

}  // namespace

std::span<const OptionRule> placement_options() {
    return rules;
}

}  // namespace dlrt::launcher
