// SPDX-License-Identifier: Apache-2.0
/// The daemon: everything that happens on one host of a job. It prepares and starts the ranks of
/// its host through a keeper, lets them into the job, reads their output, ends them when told to,
/// and is done when no process of the job is left. Without its head it kills all of them at once.
///
/// One thread; no event loop runs before the keeper is forked.
#pragma once

#include "launcher/process_defaults.hpp"
#include "launcher/stream.hpp"

#include <cstdint>
#include <string>

namespace dlrt::launcher {

/// Where a daemon runs, seen from the head.
struct DaemonPlace {
    enum class Kind : std::uint8_t { same_host, other_host, simulated_host };
    Kind kind = Kind::same_host;
    std::string name = {};  ///< Of a simulated host.
};

/// Serves one job over the stream to the head. Returns the exit status of the process.
[[nodiscard]] int run_daemon(
    Stream stream, const DaemonPlace& place, const ProcessDefaults& defaults
);

}  // namespace dlrt::launcher
