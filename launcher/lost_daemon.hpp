// SPDX-License-Identifier: Apache-2.0
/// The last line of care: what the head does when the daemon of its host has died or is silent.
#pragma once

#include <string>
#include <sys/types.h>

namespace dlrt::launcher {

struct LostDaemon {
    std::string how_it_ended;  ///< "it was killed by signal 9 (killed)"; empty: it was still there.
};

/// Ends the daemon, waits until the keeper has killed everybody, and kills what is left of the job
/// among the head's own descendants. The head must be a subreaper. Returns after 12 s at the
/// latest.
LostDaemon end_processes_of_lost_daemon(pid_t daemon_pid, const std::string& job_id);

}  // namespace dlrt::launcher
