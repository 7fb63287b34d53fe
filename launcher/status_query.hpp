// SPDX-License-Identifier: Apache-2.0
/// What `dlrun --status` does: asks the daemon of a running job of this user about its ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// Prints what was asked for. Returns dlrun's exit status: 125 when there is no such job, or
/// several.
[[nodiscard]] int show_status(std::string_view job_id);

/// Ids of the jobs whose daemons listen, from the text of /proc/net/unix, sorted.
[[nodiscard]] std::vector<std::string> find_jobs(std::string_view proc_net_unix, unsigned user);

}  // namespace dlrt::launcher
