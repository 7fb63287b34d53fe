// SPDX-License-Identifier: Apache-2.0
/// The daemon of one's own host: a process that the head, or a relay, starts and outlives.
#pragma once

#include "launcher/daemon.hpp"
#include "launcher/process_defaults.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <sys/types.h>

namespace dlrt::launcher {

struct LocalDaemon {
    pid_t pid = 0;
    Fd stream;
};

/// A fork: the same code as dlrund's, without its start-up cost. Errors: Errc::system.
[[nodiscard]] Result<LocalDaemon> fork_local_daemon(
    const ProcessDefaults& defaults, const DaemonPlace& place = {}
);

/// Once it has said its last: reaps it, and ends it when it doesn't go by itself.
void wait_for_local_daemon(pid_t pid);

}  // namespace dlrt::launcher
