// SPDX-License-Identifier: Apache-2.0
/// {"measured_on": {"cpu_model": "…", "online_cpus": 2}, "rules": [{"collective": "allreduce",
/// "ranks_min": 3, "ranks_max": 4, "bytes_min": 0, "bytes_end": 65536, "algorithm": "tree"}, …]}
#include "runtime/collective_table.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/table_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace dlrt {
namespace {

constexpr std::array<std::string_view, 2> table_fields = {"measured_on", "rules"};
constexpr std::array<std::string_view, 6> rule_fields = {
    "collective", "ranks_min", "ranks_max", "bytes_min", "bytes_end", "algorithm",
};
constexpr std::size_t rule_count_max = 4096;
constexpr std::uint64_t ranks_max = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

Status read_algorithm(const ObjectReader& reader, const coll::Algorithm*& out) {
    std::vector<std::string_view> collectives, names;
    for (const coll::Algorithm& algorithm : coll::algorithms()) {
        const std::string_view name = coll::name_of(algorithm.collective);
        if (collectives.empty() || collectives.back() != name) collectives.push_back(name);
    }
    std::size_t index = 0;
    if (Status status = reader.read_name("collective", collectives, index); !status.ok()) {
        return status;
    }
    std::vector<const coll::Algorithm*> known;
    for (const coll::Algorithm& algorithm : coll::algorithms()) {
        if (coll::name_of(algorithm.collective) != collectives[index]) continue;
        known.push_back(&algorithm);
        names.push_back(algorithm.name);
    }
    if (Status status = reader.read_name("algorithm", names, index); !status.ok()) return status;
    out = known[index];
    return {};
}

Result<coll::TunedRule> read_rule(const ObjectReader& reader) {
    coll::TunedRule rule;
    std::uint64_t least = 0, most = 0;
    Status status = reader.check_fields(rule_fields);
    if (status.ok()) status = read_algorithm(reader, rule.algorithm);
    if (status.ok()) status = reader.read_number("ranks_min", {1, ranks_max}, least, 1);
    if (status.ok()) status = reader.read_number("ranks_max", {least, ranks_max}, most, ranks_max);
    if (status.ok()) status = reader.read_number("bytes_min", {}, rule.sizes.begin_bytes, 0);
    if (status.ok() && rule.sizes.begin_bytes == no_end) {
        status = reader.wrong("bytes_min", "leaves no sizes");
    }
    if (status.ok()) {
        status = reader.read_number(
            "bytes_end", {rule.sizes.begin_bytes + 1, no_end}, rule.sizes.end_bytes, no_end
        );
    }
    if (!status.ok()) return status;
    rule.ranks_min = static_cast<std::int32_t>(least);
    rule.ranks_max = static_cast<std::int32_t>(most);
    return rule;
}

Result<std::vector<coll::TunedRule>> read_rules(const TableJson& all) {
    const auto found = all.find("rules");
    if (found == all.end() || !found->is_array() || found->size() > rule_count_max) {
        return fail(
            Errc::argument, "field 'rules' must be a list of at most {} objects", rule_count_max
        );
    }
    std::vector<coll::TunedRule> rules;
    for (const TableJson& entry : *found) {
        const ObjectReader reader(fmt::format("rule {}: ", rules.size() + 1), entry);
        const Result<coll::TunedRule> rule = read_rule(reader);
        if (!rule) return rule.error();
        rules.push_back(*rule);
    }
    return rules;
}

}  // namespace

Result<CollectiveTable> parse_collective_table(std::string_view text) {
    const Result<TableJson> all = parse_table(text);
    if (!all) return all.error();
    if (const Status status = ObjectReader("", *all).check_fields(table_fields); !status.ok()) {
        return status;
    }
    Result<MeasuredHost> host = read_measured_host(*all);
    if (!host) return host.error();
    Result<std::vector<coll::TunedRule>> rules = read_rules(*all);
    if (!rules) return rules.error();
    return CollectiveTable{std::move(*rules), std::move(*host)};
}

std::string collective_table_text(const CollectiveTable& table) {
    TableJson all;
    if (table.measured_on) all["measured_on"] = measured_host_json(*table.measured_on);
    TableJson rules = TableJson::array();
    for (const coll::TunedRule& rule : table.rules) {
        TableJson entry;
        entry["collective"] = coll::name_of(rule.algorithm->collective);
        entry["ranks_min"] = rule.ranks_min;
        if (static_cast<std::uint64_t>(rule.ranks_max) < ranks_max)
            entry["ranks_max"] = rule.ranks_max;
        entry["bytes_min"] = rule.sizes.begin_bytes;
        if (rule.sizes.end_bytes < no_end) entry["bytes_end"] = rule.sizes.end_bytes;
        entry["algorithm"] = rule.algorithm->name;
        rules.push_back(std::move(entry));
    }
    all["rules"] = std::move(rules);
    return all.dump(2) + "\n";
}

std::vector<coll::TunedRule> rules_from(std::span<const AlgorithmSample> samples) {
    constexpr double gain = 0.9;
    using BySize = std::map<std::uint64_t, std::vector<AlgorithmSample>>;
    std::map<coll::Collective, std::map<std::int32_t, BySize>> sorted;
    for (const AlgorithmSample& sample : samples) {
        sorted[sample.algorithm->collective][sample.ranks][sample.total_bytes].push_back(sample);
    }
    std::vector<coll::TunedRule> rules;
    for (const auto& [collective, by_ranks] : sorted) {
        std::int32_t ranks_below = 0;
        for (const auto& [ranks, by_size] : by_ranks) {
            const coll::Algorithm* last = nullptr;
            for (const auto& [bytes, candidates] : by_size) {
                const coll::Algorithm* usual = &coll::choose_algorithm({collective, ranks, bytes});
                const auto& best = *std::ranges::min_element(
                    candidates, {}, &AlgorithmSample::time_us
                );
                const auto known = std::ranges::find(
                    candidates, usual, &AlgorithmSample::algorithm
                );
                const bool is_better = known == candidates.end() ||
                                       best.time_us <= gain * known->time_us;
                const coll::Algorithm* chosen = is_better && best.algorithm != usual
                                                    ? best.algorithm
                                                    : nullptr;
                const bool is_first = bytes == by_size.begin()->first;
                if (chosen != last && last != nullptr) rules.back().sizes.end_bytes = bytes;
                if (chosen != last && chosen != nullptr) {
                    rules.push_back({chosen, ranks_below + 1, ranks, {is_first ? 0 : bytes, no_end}}
                    );
                }
                last = chosen;
            }
            ranks_below = ranks;
        }
    }
    return rules;
}

CollectiveTableChoice choose_collective_table(const TablePlaces& places) {
    CollectiveTableChoice choice;
    std::optional<CollectiveTable> taken;
    const auto take = [&](std::string_view text) -> Result<MeasuredHost> {
        Result<CollectiveTable> table = parse_collective_table(text);
        if (!table) return table.error();
        taken = std::move(*table);
        return MeasuredHost(*taken->measured_on);
    };
    choice.places = look_for_table(places, {"DLRT_COLLECTIVE_TABLE", take, find_measured_host});
    if (choice.places.back().state == PlaceState::in_force) taken = CollectiveTable{};
    const bool is_any_in_force = std::ranges::any_of(choice.places, [](const PlaceReport& place) {
        return place.state == PlaceState::in_force;
    });
    if (is_any_in_force) choice.table = std::move(taken);
    return choice;
}

}  // namespace dlrt
