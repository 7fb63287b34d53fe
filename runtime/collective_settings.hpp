// SPDX-License-Identifier: Apache-2.0
/// What the user says about collectives, the same on every rank of a job. A value.
#pragma once

#include "collectives/algorithm_rules.hpp"
#include "collectives/groups.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/job_map.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlrt {

struct Settings;

struct CollectiveSettings {
    coll::Preferences rules;     ///< DLRT_ALGO, DLRT_COLLECTIVE_TABLE, DLRT_DETERMINISTIC
    bool is_explaining = false;  ///< DLRT_EXPLAIN
    /// Of damaged tables that were passed over; all ranks of a host find the same.
    std::vector<std::string> warnings;
    /// Of the job's ranks: DLRT_GROUPS, or by host. Known once the job is.
    std::optional<coll::Groups> world_groups;
};

/// Reads the table of algorithms, too. Errors: Errc::argument naming the setting.
[[nodiscard]] Result<CollectiveSettings> collective_settings(const Settings& settings);

/// Errors: Errc::argument when DLRT_GROUPS doesn't fit the number of ranks.
[[nodiscard]] Result<coll::Groups> groups_of_job(const Settings& settings, const JobMap& map);

}  // namespace dlrt
