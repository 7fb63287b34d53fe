// SPDX-License-Identifier: Apache-2.0
#include "launcher/head.hpp"

#include "launcher/caller_context.hpp"
#include "launcher/channel.hpp"
#include "launcher/display.hpp"
#include "launcher/input_source.hpp"
#include "launcher/job_builder.hpp"
#include "launcher/job_outcome.hpp"
#include "launcher/job_report.hpp"
#include "launcher/job_timers.hpp"
#include "launcher/job_verdict.hpp"
#include "launcher/liveness.hpp"
#include "launcher/local_daemon.hpp"
#include "launcher/lost_daemon.hpp"
#include "launcher/output_path.hpp"
#include "launcher/output_rule.hpp"
#include "launcher/progress.hpp"
#include "launcher/rank_programs.hpp"
#include "launcher/topology_need.hpp"
#include "launcher/topology_text.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int launcher_fault_status = 125;
constexpr std::chrono::seconds last_output_time{1};

/// To standard output, before any rank writes there.
void print_text(std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
        if (put < 0 && errno != EINTR) return;
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
    }
}

class Head {
  public:
    Head(
        const Options& options, CallerContext context, Fd stream, pid_t daemon_pid,
        const ProcessDefaults& defaults, std::optional<JobReport> report
    );
    int run();

  private:
    // One per frame that a daemon sends.
    void take(HostFacts&& facts);
    void take(RanksStarted&& started);
    void take(RankOutput&& output);
    void take(RankEnded&& end);
    void take(RankMissed&& missed);
    void take(RankAborted&& abort);
    void take(HostFailed&& failure);
    void take(HostSignalled&& signalled);
    void take(RanksSuspended&& suspended);
    void take(StdinTaken&& taken);
    void take(Notice&& notice);
    void take(JobEnded&& ended);
    /// What only a head says.
    template<typename Other>
    void take(Other&&) {}

    void on_daemon_lost(std::string reason);
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

    const Options& options_;
    CallerContext context_;
    EventLoop loop_;
    pid_t daemon_pid_;
    Channel daemon_;
    Liveness daemon_life_;
    OutputPath output_;
    InputSource input_;
    SignalWatch signals_;
    JobTimers timers_;
    Timer last_output_timer_;
    std::optional<JobReport> report_;
    Progress progress_;
    JobMap map_;
    std::string daemon_host_ = "?";
    JobVerdict verdict_;
    int urgency_ = 0;  ///< 0: the job runs. 1: ranks have their grace. 2: everybody is being
                       ///< killed.
    bool has_started_ = false;       ///< The daemon has been told to start the ranks.
    bool have_all_started_ = false;  ///< All ranks run their programs.
    bool is_suspension_due_ = false;
    bool is_own_copy_due_ = false;  ///< Of the signal that another process of ours got.
    bool has_asked_for_cpus_ = false;
    bool has_ended_ = false;
};

Head::Head(
    const Options& options, CallerContext context, Fd stream, pid_t daemon_pid,
    const ProcessDefaults& defaults, std::optional<JobReport> report
)
    : options_(options),
      context_(std::move(context)),
      daemon_pid_(daemon_pid),
      daemon_(
          loop_, std::move(stream),
          {[this](Frame&& frame) {
               daemon_life_.heard();
               std::visit([this](auto&& said) { take(std::move(said)); }, std::move(frame));
           },
           [this](std::string reason) { on_daemon_lost(std::move(reason)); }}
      ),
      daemon_life_(
          loop_, context_.heartbeat_ms,
          {[this] { daemon_.send(Heartbeat{}); },
           [this] { on_daemon_lost(silence_text(context_.heartbeat_ms)); }}
      ),
      output_(
          loop_, {[this](std::uint32_t rank, std::size_t size_bytes) {
                      daemon_.send(OutputWritten{rank, size_bytes});
                  },
                  [this](int error) { on_output_failed(error); }, [this] { finish_if_written(); }}
      ),
      input_(
          loop_,
          [this](std::vector<std::byte> bytes) { daemon_.send(StdinBytes{std::move(bytes)}); }
      ),
      signals_(loop_),
      timers_(
          loop_, options,
          {[this] { on_timeout(); }, [this] { on_start_timeout(); },
           [this](int signal) { daemon_.send(SignalRanks{signal}); }}
      ),
      last_output_timer_(loop_),
      report_(std::move(report)),
      progress_(
          loop_, Progress::form_for(options.shows_progress),
          {[this](std::string_view line) { say(line); },
           [](std::string_view text) {
               static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
           }}
      ),
      verdict_(options.on_failure) {
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2}) {
        signals_.add(signal);
    }
    if (!defaults.ignores_hangup) signals_.add(SIGHUP);
    wait_for_signals();
}

void Head::say(std::string_view line) {
    progress_.make_way();
    output_.add_own_line(fmt::format("dlrun: {}", line));
}

int Head::run() {
    loop_.run();
    return verdict_.exit_status();
}

void Head::take(RankOutput&& output) {
    progress_.make_way();
    output_.add(output);
}

void Head::take(RankAborted&& abort) {
    Cause cause = make_cause(CauseKind::rank_aborted, abort.code, std::move(abort.text));
    cause.rank = abort.rank;
    cause.host = host_of(abort.rank);
    cause.pid = abort.pid;
    end_job(std::move(cause), SIGTERM);
}

void Head::take(HostFailed&& failure) {
    end_job(
        make_cause(CauseKind::host_failed, failure.exit_status, std::move(failure.text)), SIGTERM
    );
}

void Head::take(HostSignalled&& signalled) {
    const std::string who = fmt::format("the {} on {} ", signalled.process, daemon_host_);
    // Who signals every process of a job means one signal, whoever hears of it first.
    if (urgency_ == 0) is_own_copy_due_ = true;
    end_job(make_cause(CauseKind::signalled, signalled.signal, who), signalled.signal);
}

void Head::take(StdinTaken&& taken) {
    if (taken.is_closed)
        input_.stop();
    else
        input_.taken(taken.size_bytes);
}

void Head::take(RanksSuspended&&) {
    ::raise(SIGSTOP);
}

void Head::take(RanksStarted&& started) {
    if (report_) report_->note_started(started, 0);
    progress_.note_started(static_cast<std::uint32_t>(started.pids.size()));
    have_all_started_ = true;
    verdict_.note_all_started();
    timers_.note_all_started();
    if (is_suspension_due_) suspend();
}

void Head::take(Notice&& notice) {
    say(notice.text);
}

void Head::take(JobEnded&&) {
    on_job_ended();
}

void Head::take(HostFacts&& facts) {
    daemon_host_ = facts.host_name;
    const DescribeHost question{detail_needed(options_), cpus_to_borrow(options_, facts)};
    const bool borrows = question.wanted_cpus != 0 && !std::exchange(has_asked_for_cpus_, true);
    if (borrows || facts.topology.detail < question.detail) return daemon_.send(question);
    Result<BuiltJob> job = build_job(options_, context_, facts);
    if (!job) {
        verdict_.set_cause(
            make_cause(CauseKind::host_failed, launcher_fault_status, last_error_text())
        );
        daemon_.close();
        return on_job_ended();
    }
    map_ = std::move(job->map);
    output_.set_tagger(make_stream_tagger(options_.output, map_));
    verdict_.set_rank_count(map_.size());
    if (report_) report_->note_job(map_);
    for (const std::string& warning : job->warnings) say("warning: " + warning);
    if (options_.is_verbose) {
        say(fmt::format(
            "job {}: {} rank{} on {}, {} usable cpu{}{}", map_.job_id, map_.size(),
            map_.size() == 1 ? "" : "s", facts.host_name, facts.usable_cpu_count,
            facts.usable_cpu_count == 1 ? "" : "s",
            options_.rank_count() ? "" : " (no -np: one rank for each)"
        ));
        for (const std::string& line : program_lines(map_, job->start)) say(line);
    }
    if (options_.is_dry_run && options_.display.is_empty()) {
        for (const std::string& line : program_lines(map_, job->start)) print_text(line + "\n");
    }
    print_text(render_display(options_, job->placement, job->topologies));
    if (options_.reports_bindings) {
        for (const std::string& line :
             binding_lines(job->placement, job->topologies, options_.memory_binding)) {
            say(line);
        }
    }
    if (options_.is_dry_run) {
        daemon_.close();
        return on_job_ended();
    }
    has_started_ = true;
    daemon_.send(job->start);
    if (is_forwarded(context_.stdin_kind) && !input_.start()) daemon_.send(StdinBytes{});
    timers_.start();
    progress_.start(map_.size());
}

void Head::on_start_timeout() {
    const std::string text = fmt::format(
        "not all ranks on {} run after the --start-timeout of {:g} s", daemon_host_,
        static_cast<double>(options_.start_timeout_ms) / 1000
    );
    end_job(make_cause(CauseKind::host_failed, launcher_fault_status, text), SIGTERM);
}

void Head::on_timeout() {
    end_job(
        make_cause(CauseKind::timed_out, static_cast<std::int64_t>(*options_.timeout_ms)), SIGTERM
    );
}

void Head::take(RankEnded&& end) {
    if (report_) report_->note_ended(end);
    progress_.note_ended();
    if (verdict_.take_rank_end(end, host_of(end.rank))) end_ranks(SIGTERM);
}

void Head::take(RankMissed&& missed) {
    if (verdict_.take_missed(missed)) end_ranks(SIGTERM);
}

void Head::end_job(Cause cause, int signal) {
    verdict_.set_cause(std::move(cause));
    end_ranks(signal);
}

void Head::end_ranks(int signal) {
    if (urgency_ > 0) return;
    urgency_ = 1;
    timers_.cancel();
    if (!verdict_.have_all_ended()) daemon_.send(Terminate{signal, options_.grace_ms});
}

void Head::wait_for_signals() {
    signals_.when_signalled([this](int signal) { on_signal(signal); });
}

void Head::on_signal(int signal) {
    switch (signal) {
        case SIGTSTP:
            suspend();
            break;
        case SIGCONT:
        case SIGUSR1:
        case SIGUSR2:
            daemon_.send(SignalRanks{signal});
            break;
        default:
            end_by_signal(signal);
            break;
    }
}

void Head::suspend() {
    // Ranks that are started later would run on.
    is_suspension_due_ = !have_all_started_;
    if (have_all_started_) daemon_.send(SuspendRanks{});
}

void Head::end_by_signal(int signal) {
    const Cause cause = make_cause(CauseKind::signalled, signal);
    if (has_ended_) {
        // Only a reader is waited for that doesn't read.
        verdict_.set_cause(cause);
        return loop_.stop();
    }
    if (std::exchange(is_own_copy_due_, false)) return;
    if (urgency_ == 0) {
        if (has_started_) return end_job(cause, signal);
        verdict_.set_cause(cause);
        daemon_.close();
        return on_job_ended();
    }
    // Somebody is in a hurry: the daemons kill at once, and without us too.
    if (urgency_ >= 2) ::_exit(verdict_.exit_status());
    urgency_ = 2;
    daemon_.send(Terminate{SIGKILL, 0});
}

void Head::on_output_failed(int error) {
    if (error == EPIPE) return end_job(make_cause(CauseKind::reader_gone, 0), SIGTERM);
    const std::string text = fmt::format("cannot write the output: {}", std::strerror(error));
    end_job(make_cause(CauseKind::host_failed, launcher_fault_status, text), SIGTERM);
}

void Head::on_daemon_lost(std::string reason) {
    if (has_ended_) return;
    const LostDaemon lost = end_processes_of_lost_daemon(daemon_pid_, context_.job_id);
    if (!lost.how_it_ended.empty()) reason = lost.how_it_ended;
    verdict_.set_cause(make_cause(
        CauseKind::host_failed, launcher_fault_status,
        fmt::format("the daemon on {} was lost ({})", daemon_host_, reason)
    ));
    on_job_ended();
}

void Head::on_job_ended() {
    if (std::exchange(has_ended_, true)) return;
    timers_.cancel();
    daemon_life_.stop();
    input_.stop();
    progress_.stop();
    if (report_ && !report_->write(verdict_.cause()).ok()) {
        verdict_.set_cause(
            make_cause(CauseKind::host_failed, launcher_fault_status, last_error_text())
        );
    }
    for (const std::string& line : verdict_.lines()) say(line);
    output_.end();
    if (verdict_.is_failed()) {
        // Of a job that failed the rest of the output isn't worth waiting for a reader that stalls.
        last_output_timer_.start(last_output_time, [this] { loop_.stop(); });
    }
    finish_if_written();
}

void Head::finish_if_written() {
    if (has_ended_ && output_.is_empty()) loop_.stop();
}

std::string Head::host_of(std::uint32_t rank) const {
    if (rank >= map_.size()) return daemon_host_;
    return map_.hosts[map_.ranks[rank].host_index].name;
}

/// What went wrong last, before there is a job.
int refuse(std::optional<JobReport> report) {
    print_own_line(last_error_text());
    if (report) {
        const Cause cause = make_cause(
            CauseKind::host_failed, launcher_fault_status, std::string(last_error_text())
        );
        if (!report->write(cause).ok()) print_own_line(last_error_text());
    }
    return launcher_fault_status;
}

}  // namespace

void print_own_line(std::string_view line) {
    std::string text = "dlrun: ";
    for (const char letter : line) {
        // What a user's word holds must not make two lines of one.
        if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') {
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
        } else {
            text += letter;
        }
    }
    text += '\n';
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
}

int run_head(const Options& options, const ProcessDefaults& defaults) {
    ignore_write_signals();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Result<std::optional<JobReport>> report = JobReport::open(options);
    if (!report) return refuse({});
    Result<CallerContext> context = find_caller_context(options);
    if (!context) return refuse(std::move(*report));
    Result<LocalDaemon> daemon = fork_local_daemon(defaults);
    if (!daemon) return refuse(std::move(*report));
    // The rank that reads the input has it now; a writer must see when that rank closes it.
    if (context->stdin_kind == StdinKind::descriptor) redirect_to_null(STDIN_FILENO);
    int exit_status = 0;
    {
        Head head(
            options, std::move(*context), std::move(daemon->stream), daemon->pid, defaults,
            std::move(*report)
        );
        exit_status = head.run();
    }
    wait_for_local_daemon(daemon->pid);
    return exit_status;
}

}  // namespace dlrt::launcher
