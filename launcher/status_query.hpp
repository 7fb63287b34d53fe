// SPDX-License-Identifier: Apache-2.0
/// What `dlrun --status` does: asks the daemon of a running job of this user about its ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace dlrt::launcher {

/// Prints what was asked for. Returns dlrun's exit status: 125 when there is no such job, or
/// several.
[[nodiscard]] int show_status(std::string_view job_id);

/// By id, the jobs whose daemons listen, from the text of /proc/net/unix: of each the numbers of
/// the hosts whose daemons are here.
using FoundJobs = std::map<std::string, std::set<std::uint32_t>, std::less<>>;
[[nodiscard]] FoundJobs find_jobs(std::string_view proc_net_unix, unsigned user);

}  // namespace dlrt::launcher
