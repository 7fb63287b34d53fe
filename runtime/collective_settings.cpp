// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_settings.hpp"

#include "runtime/base/config.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/collective_table.hpp"

#include <utility>

namespace dlrt {
namespace {

Result<std::vector<coll::AlgorithmRule>> read_rules(const Settings& settings) {
    if (settings.algorithm_rules.empty()) return std::vector<coll::AlgorithmRule>();
    auto rules = coll::parse_algorithm_rules(settings.algorithm_rules);
    if (!rules) {
        const std::string reason = last_error_text();
        return fail(Errc::argument, "DLRT_ALGO={}: {}", settings.algorithm_rules, reason);
    }
    const std::string contradiction = coll::contradiction_of(*rules);
    if (settings.is_deterministic && !contradiction.empty()) {
        return fail(
            Errc::argument, "DLRT_ALGO={}: contradicts DLRT_DETERMINISTIC=1: {}",
            settings.algorithm_rules, contradiction
        );
    }
    return rules;
}

}  // namespace

Result<CollectiveSettings> collective_settings(const Settings& settings) {
    CollectiveSettings found;
    found.is_explaining = settings.is_explaining;
    found.rules.is_deterministic = settings.is_deterministic;
    auto rules = read_rules(settings);
    if (!rules) return rules.error();
    found.rules.rules = std::move(*rules);
    CollectiveTableChoice choice = choose_collective_table(
        table_places(settings.collective_table_path, collective_table_file_name)
    );
    if (!choice.table) {
        const PlaceReport& named = choice.places.front();
        return fail(
            Errc::argument,
            "DLRT_COLLECTIVE_TABLE={}: {}; run dltune --collectives again on this host or unset it",
            named.path, named.reason
        );
    }
    for (const PlaceReport& place : choice.places) {
        if (place.state != PlaceState::damaged) continue;
        found.warnings.push_back(fmt::format(
            "collective table '{}' is passed over: {}; run dltune --collectives again or remove it",
            place.path, place.reason
        ));
    }
    found.rules.tuned = std::move(choice.table->rules);
    return found;
}

Result<coll::Groups> groups_of_job(const Settings& settings, const JobMap& map) {
    if (settings.groups.empty()) {
        std::vector<std::uint32_t> hosts;
        for (const RankEntry& rank : map.ranks) hosts.push_back(rank.host_index);
        return coll::Groups::of(hosts);
    }
    auto groups = coll::Groups::parse(settings.groups, static_cast<std::int32_t>(map.size()));
    if (groups) return groups;
    const std::string reason = last_error_text();
    return fail(Errc::argument, "DLRT_GROUPS={}: {}", settings.groups, reason);
}

}  // namespace dlrt
