// SPDX-License-Identifier: Apache-2.0
/// What a daemon knows about the end of a rank beside its exit status.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/keeper.hpp"
#include "launcher/launch_plan.hpp"
#include "launcher/memory_events.hpp"

namespace dlrt::launcher {

/// REQUIRES: report.kind is ended. All but lifetime_ns and is_unfinalized.
[[nodiscard]] RankEnded rank_end(
    const PreparedJob& job, const KeeperReport& report, const MemoryEvents& events_before
);

}  // namespace dlrt::launcher
