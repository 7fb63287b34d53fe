// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_end.hpp"

#include <csignal>
#include <sys/wait.h>

namespace dlrt::launcher {
namespace {

constexpr std::uint32_t calls_shown = 4;

}  // namespace

RankEnded rank_end(
    const PreparedJob& job, const KeeperReport& report, const MemoryEvents& events_before
) {
    RankEnded end;
    end.rank = job.ends[report.local_rank].rank;
    end.pid = report.pid;
    end.wait_status = report.value;
    end.was_told_to_end = report.is_told_to_end != 0;
    if (!WIFSIGNALED(end.wait_status) || end.was_told_to_end) return end;
    if (WTERMSIG(end.wait_status) == SIGKILL) {
        end.remark = out_of_memory_remark(events_before, read_memory_events(""));
    }
    for (const FlightEntry& entry :
         read_flight_ring(job.segment.flight_ring(report.local_rank), calls_shown)) {
        end.last_calls.push_back(describe(entry, report.time_ns));
    }
    return end;
}

}  // namespace dlrt::launcher
