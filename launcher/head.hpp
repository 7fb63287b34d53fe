// SPDX-License-Identifier: Apache-2.0
/// The head: what dlrun does between its command line and its exit status. It has the daemons of
/// the hosts started (fleet.hpp), tells them what to run, writes the ranks' output, turns signals
/// and limits into the end of the job, and says in one line why a job failed.
#pragma once

#include "launcher/options.hpp"
#include "launcher/process_defaults.hpp"

#include <string_view>

namespace dlrt::launcher {

/// Runs a job to its end. `version` is that of this program. Returns dlrun's exit status.
[[nodiscard]] int run_head(
    const Options& options, const ProcessDefaults& defaults, std::string_view version
);

/// "dlrun: …" on stderr.
void print_own_line(std::string_view line);

}  // namespace dlrt::launcher
