// SPDX-License-Identifier: Apache-2.0
/// A host's member of the tree of daemons: stands between its own host's daemon, which knows
/// nothing of a tree, its parent and its children, and passes their frames on. Started as the
/// daemon is, by ssh, over whose stream it gets its place; that stream stays, and where it ends the
/// head is gone.
///
/// Who loses its parent closes the streams of its daemon and its children, which then kill their
/// ranks; who loses a child tells the head. One thread.
#pragma once

#include "launcher/daemon.hpp"
#include "launcher/process_defaults.hpp"
#include "launcher/stream.hpp"

namespace dlrt::launcher {

/// Serves one job. Returns the exit status of the process.
[[nodiscard]] int run_relay(
    Stream stream, const DaemonPlace& place, const ProcessDefaults& defaults
);

}  // namespace dlrt::launcher
