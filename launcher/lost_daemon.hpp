// SPDX-License-Identifier: Apache-2.0
/// The last line of care: what the head does when the daemon of its host has died.
#pragma once

#include <string>
#include <sys/types.h>

namespace dlrt::launcher {

/// Waits until the keeper has killed everybody, and kills what is left of the job among the head's
/// own descendants. The head must be a subreaper. Returns after 12 s at the latest.
void end_processes_of_lost_daemon(pid_t daemon_pid, const std::string& job_id);

}  // namespace dlrt::launcher
