// SPDX-License-Identifier: Apache-2.0
/// The head: what dlrun does between its command line and its exit status. It starts the daemon of
/// its own host, tells it what to run, writes the ranks' output, turns signals and limits into the
/// end of the job, and says in one line why a job failed.
#pragma once

#include "launcher/options.hpp"
#include "launcher/process_defaults.hpp"

namespace dlrt::launcher {

/// Runs a job to its end. Returns dlrun's exit status.
[[nodiscard]] int run_head(const Options& options, const ProcessDefaults& defaults);

/// "dlrun: …" on stderr.
void print_own_line(std::string_view line);

}  // namespace dlrt::launcher
