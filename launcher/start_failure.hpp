// SPDX-License-Identifier: Apache-2.0
/// Why a rank could not be started, in words.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/keeper.hpp"
#include "launcher/launch_plan.hpp"

namespace dlrt::launcher {

/// REQUIRES: report.kind is not_started.
[[nodiscard]] HostFailed start_failure(const PreparedJob& job, const KeeperReport& report);

}  // namespace dlrt::launcher
