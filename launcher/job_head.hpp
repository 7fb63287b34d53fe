// SPDX-License-Identifier: Apache-2.0
/// One job as the head sees it, from its daemons' start to its last line: places the ranks, writes
/// their output, turns signals and limits into the end of the job. In the head's event loop.
#pragma once

#include "launcher/address_book.hpp"
#include "launcher/caller_context.hpp"
#include "launcher/fleet.hpp"
#include "launcher/forwarded_input.hpp"
#include "launcher/job_builder.hpp"
#include "launcher/job_outcome.hpp"
#include "launcher/job_report.hpp"
#include "launcher/job_timers.hpp"
#include "launcher/job_verdict.hpp"
#include "launcher/local_daemon.hpp"
#include "launcher/output_path.hpp"
#include "launcher/process_defaults.hpp"
#include "launcher/progress.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

class Head {
  public:
    Head(
        const Options& options, CallerContext context, const ProcessDefaults& defaults,
        std::optional<JobReport> report, RemoteWay way
    );
    /// `local`: the daemon of this host, where it takes part.
    int run(std::optional<LocalDaemon> local);

  private:
    // One per frame that a daemon sends.
    void take(std::uint32_t host, JobPrepared&& prepared);
    void take(std::uint32_t host, RanksStarted&& started);
    void take(std::uint32_t host, RankOutput&& output);
    void take(std::uint32_t host, RankEnded&& end);
    void take(std::uint32_t host, RankMissed&& missed);
    void take(std::uint32_t host, RankAborted&& abort);
    void take(std::uint32_t host, HostFailed&& failure);
    void take(std::uint32_t host, HostSignalled&& signalled);
    void take(std::uint32_t host, RanksSuspended&& suspended);
    void take(std::uint32_t host, StdinTaken&& taken);
    void take(std::uint32_t host, Notice&& notice);
    void take(std::uint32_t host, JobEnded&& ended);
    void take(std::uint32_t host, RankAddress&& address);
    void take(std::uint32_t host, AddressWanted&& wanted);
    void take(std::uint32_t host, RankDeparted&& departed);
    void take(std::uint32_t host, RankConnectBack&& request);
    /// What only a head says, and what was said before there was a job.
    template<typename Other>
    void take(std::uint32_t, Other&&) {}

    Fleet::Handlers fleet_handlers();
    DescribeHost question_for(std::uint32_t host, const HostFacts& facts) const;
    void on_described();
    void begin_job(BuiltJob job);
    void begin_input();
    void on_unreachable(std::vector<std::string> problems);
    void on_daemon_lost(std::uint32_t host, const std::string& reason);
    void end_unstarted(Cause cause);
    void on_host_gone(std::uint32_t host);
    void on_job_ended();

    void wait_for_signals();
    void on_signal(int signal);
    void end_by_signal(int signal);
    void on_timeout();
    void on_start_timeout();
    void suspend();

    void end_job(Cause cause, int signal);
    void end_ranks(int signal);
    void on_output_failed(int error);
    void finish_if_written();
    void say(std::string_view line);
    std::string host_of(std::uint32_t rank) const;
    std::string hosts_not_started() const;

    const Options& options_;
    CallerContext context_;
    EventLoop loop_;
    Fleet fleet_;
    OutputPath output_;
    ForwardedInput input_;
    AddressBook addresses_;
    SignalWatch signals_;
    JobTimers timers_;
    Timer last_output_timer_;
    std::optional<JobReport> report_;
    Progress progress_;
    JobMap map_;
    JobVerdict verdict_;
    StdinKind stdin_kind_ = StdinKind::none;
    std::uint32_t stdin_rank_ = 0;
    std::uint32_t prepared_count_ = 0;
    std::vector<bool> has_host_started_;  ///< By host: all its ranks run.
    std::uint32_t suspended_count_ = 0;
    int urgency_ = 0;  ///< 0: the job runs. 1: ranks have their grace. 2: everybody is being
                       ///< killed.
    bool has_started_ = false;       ///< The daemons have been told to start the ranks.
    bool have_all_started_ = false;  ///< All ranks run their programs.
    bool is_suspension_due_ = false;
    bool is_own_copy_due_ = false;  ///< Of the signal that another process of ours got.
    bool has_ended_ = false;
};

}  // namespace dlrt::launcher
