// SPDX-License-Identifier: Apache-2.0
/// Joining through the daemon that started this process: by the descriptors it left open for us,
/// or, when they are gone or are something else, through its abstract socket. Thread: see
/// wireup_source.hpp.
#pragma once

#include "runtime/wireup_source.hpp"

#include <memory>

namespace dlrt {

/// REQUIRES: DLRT_JOBID is set.
[[nodiscard]] std::unique_ptr<WireupSource> make_daemon_source(int timeout_ms);

/// A variable that only a daemon sets; null when none of them is.
[[nodiscard]] const char* find_daemon_variable();

}  // namespace dlrt
