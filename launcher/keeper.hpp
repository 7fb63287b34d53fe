// SPDX-License-Identifier: Apache-2.0
/// The keeper: a tiny process between a daemon and its ranks. It starts them, reaps them, passes
/// signals on, and when the daemon's end of the link closes it kills every process below itself
/// before it goes.
///
/// Forked from the daemon, single-threaded, blocks in poll(). As a subreaper it stays above
/// processes whose parents have died, whatever sessions they opened.
#pragma once

#include "launcher/launch_plan.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <sys/types.h>

namespace dlrt::launcher {

/// Keeper → daemon, one datagram.
struct KeeperReport {
    enum class Kind : std::uint32_t {
        started,      ///< `value` is unused.
        not_started,  ///< `value` is errno, `stage` a StartStage. The keeper kills what it started.
        ended,        ///< `value` is what waitpid() reported.
        abandoned,    ///< It was not started before all were told to end, and won't be.
        signalled,    ///< The answer to a command signal_ranks.
        alive,        ///< The answer to a beat.
        missed_daemon,  ///< Nothing was heard from the daemon; the keeper kills everybody.
        got_signal,     ///< Somebody sent the keeper `value`, which asks for the end of the job.
    };
    Kind kind = Kind::started;
    std::uint32_t local_rank = 0;
    std::int32_t pid = 0;
    std::int32_t value = 0;
    std::uint32_t stage = 0;
    std::uint32_t is_told_to_end = 0;  ///< 1 once a command that ends ranks has been obeyed.
    std::uint64_t time_ns = 0;         ///< CLOCK_MONOTONIC of the event.
    // Of one that ended, as wait4() reported it.
    std::uint64_t max_rss_kib = 0;
    std::uint64_t user_us = 0;
    std::uint64_t system_us = 0;
};

/// Daemon → keeper, one datagram.
struct KeeperCommand {
    enum class Kind : std::uint32_t {
        signal_ranks,
        end_ranks,  ///< As signal_ranks, with a signal that means the end.
        kill_all,
        beat,
    };
    Kind kind = Kind::signal_ranks;
    std::int32_t signal = 0;
};

struct Keeper {
    pid_t pid = 0;
    Fd link;  ///< SOCK_SEQPACKET; ends when the keeper has nobody left below it, or is dead.
};

/// Forks the keeper, which starts the ranks of the plan at once. Errors: Errc::system.
[[nodiscard]] Result<Keeper> fork_keeper(LaunchPlan& plan);

}  // namespace dlrt::launcher
