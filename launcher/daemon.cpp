// SPDX-License-Identifier: Apache-2.0
#include "launcher/daemon.hpp"

#include "launcher/channel.hpp"
#include "launcher/control_server.hpp"
#include "launcher/cpu_claim.hpp"
#include "launcher/cpu_lender.hpp"
#include "launcher/descriptors.hpp"
#include "launcher/head_talk.hpp"
#include "launcher/input_feeder.hpp"
#include "launcher/keeper.hpp"
#include "launcher/keeper_link.hpp"
#include "launcher/liveness.hpp"
#include "launcher/output_router.hpp"
#include "launcher/process_tree.hpp"
#include "launcher/rank_end.hpp"
#include "launcher/start_failure.hpp"
#include "launcher/status_server.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::seconds drain_time{1};
constexpr std::chrono::seconds keeper_kill_time{12};
constexpr int launcher_fault_status = 125;
constexpr int last_words_ms = 30'000;

/// Those that ask a process to end.
constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void change_signal_mask(int how) {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : ending_signals) ::sigaddset(&signals, signal);
    ::sigprocmask(how, &signals, nullptr);
}

/// When a moment of the monotonic clock was, in the world outside.
std::uint64_t unix_time_of(std::uint64_t monotonic_time_ns) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    return static_cast<std::uint64_t>(now_ns) - (monotonic_ns() - monotonic_time_ns);
}

class Daemon {
  public:
    Daemon(Stream stream, PreparedJob job, Keeper keeper, CpuClaim claim);
    void run();

  private:
    // One per frame that a head sends once the job is there.
    void take(OutputWritten&& written);
    void take(Terminate&& request);
    void take(SignalRanks&& request);
    void take(SuspendRanks&& request);
    void take(StdinBytes&& input);
    void take(RankAddress&& address);
    void take(RankConnectBack&& request);
    void take(RankDeparted&& departed);
    /// What only a daemon says.
    template<typename Other>
    void take(Other&&) {}
    void on_head_lost();
    void on_head_silent();
    void clean_up_without_head();

    void on_signal(int signal);

    void on_report(const KeeperReport& report);
    void on_rank_ended(const KeeperReport& report);
    void report_missed_rank(std::uint32_t local_rank);
    void on_keeper_gone(std::string trouble);

    void begin_drain();
    void end_drain();
    void on_output_ended();
    void finish_if_done();

    void send(const Frame& frame) { head_.send(frame); }
    const std::string& host_name() const { return job_.map.hosts[job_.host_index].name; }

    EventLoop loop_;
    PreparedJob job_;
    CpuClaim claim_;
    KeeperLink keeper_;
    CpuLender lender_;
    Channel head_;
    Liveness head_life_;
    SignalWatch signals_;
    OutputRouter output_;
    ControlServer control_;
    StatusServer status_;
    InputFeeder input_;
    Timer grace_timer_;
    Timer drain_timer_;
    std::vector<pid_t> pids_;  ///< By local rank; 0 while there is no process.
    std::vector<std::uint64_t> started_at_ns_;
    MemoryEvents memory_events_;  ///< Before any rank could need much.
    std::size_t started_count_ = 0;
    std::size_t ended_count_ = 0;
    int signal_count_ = 0;
    bool is_suspending_ = false;
    bool has_failed_ = false;
    bool is_head_silent_ = false;
    bool is_finished_ = false;
};

Daemon::Daemon(Stream stream, PreparedJob job, Keeper keeper, CpuClaim claim)
    : job_(std::move(job)),
      claim_(std::move(claim)),
      keeper_(
          loop_, std::move(keeper), job_.plan.heartbeat_ms,
          {[this](const KeeperReport& report) { on_report(report); },
           [this](std::string trouble) { on_keeper_gone(std::move(trouble)); }}
      ),
      lender_(loop_, claim_.take_listener(), job_, keeper_.pid()),
      head_(
          loop_, std::move(stream),
          {[this](Frame&& frame) {
               head_life_.heard();
               std::visit([this](auto&& said) { take(std::move(said)); }, std::move(frame));
           },
           [this](const std::string&) { on_head_lost(); }}
      ),
      head_life_(
          loop_, job_.plan.heartbeat_ms,
          {[this] { send(Heartbeat{}); }, [this] { on_head_silent(); }}
      ),
      signals_(loop_),
      output_(
          loop_, job_,
          {[this](const RankOutput& output) { send(output); },
           [this](const std::string& text) {
               send(HostFailed{launcher_fault_status, fmt::format("host {}: {}", host_name(), text)}
               );
           },
           [this] { on_output_ended(); }}
      ),
      control_(
          loop_, job_,
          {[this](std::uint32_t local_rank, std::int32_t pid, const Abort& abort) {
               report_missed_rank(local_rank);
               send(RankAborted{job_.ends[local_rank].rank, pid, abort.code, abort.text});
           },
           [this](const RankAddress& address) { send(address); },
           [this](const AddressWanted& wanted) { send(wanted); },
           [this](const RankConnectBack& request) { send(request); },
           [this](std::uint32_t rank) { send(RankDeparted{rank}); }}
      ),
      status_(loop_, job_),
      input_(
          loop_,
          [this](std::uint64_t size_bytes, InputFeeder::End end) {
              send(StdinTaken{size_bytes, end == InputFeeder::End::closed});
          }
      ),
      grace_timer_(loop_),
      drain_timer_(loop_),
      pids_(job_.ends.size(), 0),
      started_at_ns_(job_.ends.size(), 0) {
    for (RankEnds& end : job_.ends) input_.add_target(std::move(end.stdin_target));
    status_.set_pids(pids_);
    // Doorbells of ranks that sleep on descriptors are rung by whoever changes what they wait for.
    job_.segment.set_wake_descriptor([this](std::uint32_t local_rank) {
        const std::uint64_t one = 1;
        static_cast<void>(::write(job_.ends[local_rank].doorbell.get(), &one, sizeof one));
    });
}

void Daemon::run() {
    for (const int signal : ending_signals) {
        if (signal != SIGHUP || !job_.plan.defaults.ignores_hangup) signals_.add(signal);
    }
    signals_.when_signalled([this](int signal) { on_signal(signal); });
    change_signal_mask(SIG_UNBLOCK);
    memory_events_ = read_memory_events("");
    for (const Status status : {control_.listen(), status_.listen()}) {
        if (status.ok()) continue;
        send(HostFailed{
            launcher_fault_status, fmt::format("host {}: {}", host_name(), last_error_text())});
        keeper_.kill_all();
        break;
    }
    loop_.run();
    head_.flush_blocking(is_head_silent_ ? 0 : last_words_ms);
}

void Daemon::take(OutputWritten&& written) {
    output_.taken(job_.map.ranks.at(written.rank).local_rank, written.size_bytes);
}

void Daemon::take(Terminate&& request) {
    if (request.grace_ms == 0) return keeper_.kill_all();
    keeper_.signal_ranks(SIGCONT);
    keeper_.end_ranks(request.signal);
    grace_timer_.start(std::chrono::milliseconds(request.grace_ms), [this] { keeper_.kill_all(); });
}

void Daemon::take(SignalRanks&& request) {
    keeper_.signal_ranks(request.signal);
}

void Daemon::take(SuspendRanks&&) {
    is_suspending_ = true;
    keeper_.signal_ranks(SIGSTOP);
}

void Daemon::take(StdinBytes&& input) {
    input_.add(std::move(input.bytes));
}

void Daemon::take(RankAddress&& address) {
    control_.learn(address);
}

void Daemon::take(RankConnectBack&& request) {
    control_.deliver(request);
}

void Daemon::take(RankDeparted&& departed) {
    if (departed.rank < job_.map.size()) job_.segment.mark_departed_elsewhere(departed.rank);
}

void Daemon::on_head_lost() {
    head_life_.stop();
    clean_up_without_head();
}

void Daemon::on_head_silent() {
    is_head_silent_ = true;
    // It may be continued, and then finds out why its job is gone.
    send(HostFailed{
        launcher_fault_status, fmt::format(
                                   "host {}: the daemon ended the ranks: it had {}", host_name(),
                                   silence_text(job_.plan.heartbeat_ms)
                               )});
    clean_up_without_head();
}

void Daemon::clean_up_without_head() {
    // Nobody is left to tell: only clean up. The keeper's end of the link ends the loop.
    output_.close_all();
    keeper_.kill_all();
    finish_if_done();
}

void Daemon::on_signal(int signal) {
    // Whoever ends a session or a service signals every process of it, and the ranks shall have
    // their grace nevertheless: the head decides.
    send(HostSignalled{signal, "daemon"});
    if (++signal_count_ > 1) keeper_.kill_all();
}

void Daemon::on_report(const KeeperReport& report) {
    switch (report.kind) {
        case KeeperReport::Kind::started:
            pids_[report.local_rank] = report.pid;
            started_at_ns_[report.local_rank] = report.time_ns;
            control_.set_rank_pid(report.local_rank, report.pid);
            output_.begin(report.local_rank, report.pid);
            claim_.leave_cpus();
            if (++started_count_ == pids_.size()) {
                lender_.set_pids(pids_);
                send(RanksStarted{{pids_.begin(), pids_.end()}});
            }
            break;
        case KeeperReport::Kind::not_started:
            has_failed_ = true;
            send(start_failure(job_, report));
            break;
        case KeeperReport::Kind::ended:
            on_rank_ended(report);
            break;
        case KeeperReport::Kind::signalled:
            if (is_suspending_ && report.value == SIGSTOP) {
                is_suspending_ = false;
                send(RanksSuspended{});
                head_life_.excuse();
            }
            break;
        case KeeperReport::Kind::got_signal:
            send(HostSignalled{report.value, "keeper"});
            break;
        case KeeperReport::Kind::missed_daemon:
            send(HostFailed{
                launcher_fault_status,
                fmt::format(
                    "the keeper on {} ended the ranks in place of the daemon ({})", host_name(),
                    silence_text(job_.plan.heartbeat_ms)
                )});
            break;
        case KeeperReport::Kind::abandoned:
            if (++ended_count_ == pids_.size()) begin_drain();
            break;
        case KeeperReport::Kind::alive:
            break;
    }
}

void Daemon::report_missed_rank(std::uint32_t local_rank) {
    auto& missed_rank = job_.segment.life(local_rank).missed_rank;
    const std::uint32_t missed = missed_rank.exchange(0, std::memory_order_acquire);
    if (missed != 0) send(RankMissed{missed - 1, job_.ends[local_rank].rank});
}

void Daemon::on_rank_ended(const KeeperReport& report) {
    const std::uint32_t local_rank = report.local_rank;
    pids_[local_rank] = 0;
    lender_.set_pids(pids_);
    ++ended_count_;
    control_.take_pending(local_rank);
    const bool is_unfinalized = control_.is_claimed(local_rank);
    // When a failure ends the job, that others then miss this rank is no news.
    if (report.value == 0 || job_.plan.outlives_failures) control_.give_up_claim(local_rank);
    const std::uint64_t began_ns = started_at_ns_[local_rank];
    RankEnded end = rank_end(job_, report, memory_events_);
    end.lifetime_ns = report.time_ns - began_ns;
    end.is_unfinalized = is_unfinalized;
    end.usage = {unix_time_of(began_ns), report.max_rss_kib, report.user_us, report.system_us};
    report_missed_rank(local_rank);
    send(end);
    if (ended_count_ == pids_.size()) begin_drain();
}

void Daemon::begin_drain() {
    grace_timer_.cancel();
    if (output_.has_ended()) return on_output_ended();
    drain_timer_.start(drain_time, [this] { end_drain(); });
}

void Daemon::end_drain() {
    const std::vector<pid_t> left = living_descendants(keeper_.pid());
    const std::vector<ino_t> pipes = output_.open_pipes();
    if (const pid_t holder = find_pipe_holder(left, pipes); holder != 0) {
        const auto state = read_process_state(holder);
        send(Notice{fmt::format(
            "process {} ({}) on {} held the output open after all ranks had ended; it was killed",
            holder, state ? state->name : "?", host_name()
        )});
    }
    keeper_.kill_all();
}

void Daemon::on_output_ended() {
    if (ended_count_ == pids_.size()) keeper_.kill_all();
    finish_if_done();
}

void Daemon::on_keeper_gone(std::string trouble) {
    const bool is_lost = !trouble.empty() || (ended_count_ < started_count_ && !has_failed_);
    // What the keeper left behind has become ours.
    const bool is_clean = kill_and_reap_all_children();
    if (is_lost && head_.is_open()) {
        send(HostFailed{
            launcher_fault_status, fmt::format(
                                       "the keeper on {} was lost ({})", host_name(),
                                       trouble.empty() ? "it is gone" : trouble
                                   )});
    }
    if (!is_clean) {
        send(Notice{fmt::format("host {}: some processes cannot be killed", host_name())});
    }
    output_.end_when_empty();
    finish_if_done();
}

void Daemon::finish_if_done() {
    if (is_finished_ || keeper_.is_open() || !output_.has_ended()) return;
    is_finished_ = true;
    send(JobEnded{});
    loop_.post([this] { loop_.stop(); });
}

/// What they are bound to together; empty where one of them isn't bound.
std::vector<std::uint32_t> cpus_of_ranks(const LaunchPlan& plan) {
    std::vector<std::uint32_t> cpus;
    for (const RankPlan& rank : plan.ranks) {
        if (rank.cpus.empty()) return {};
        cpus.insert(cpus.end(), rank.cpus.begin(), rank.cpus.end());
    }
    return cpus;
}

}  // namespace

int run_daemon(Stream stream, const DaemonPlace& place, const ProcessDefaults& defaults) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "dlrund");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ignore_write_signals();
    // Until there is an event loop that can tell the head of them.
    change_signal_mask(SIG_BLOCK);
    redirect_to_null(STDOUT_FILENO);
    const bool is_simulated = place.kind == DaemonPlace::Kind::simulated_host;
    CpuClaim claim = is_simulated
                         ? CpuClaim::none()
                         : CpuClaim::begin(cpu_claim_prefix(), CpuClaim::Wait::while_others_choose);
    HeadTalk head(stream, place);
    Result<StartJob> asked = head.receive_job(claim);
    if (!asked) return asked.error().code == Errc::peer_lost ? 0 : launcher_fault_status;
    const bool waits_for_others = asked->waits_for_others;
    auto prepared = prepare_job(std::move(*asked), defaults);
    if (const auto* failure = std::get_if<HostFailed>(&prepared)) {
        head.give_up(*failure);
        return 0;
    }
    if (waits_for_others && !head.may_begin()) return 0;
    auto& job = std::get<PreparedJob>(prepared);
    claim.settle(cpus_of_ranks(job.plan));
    job.plan.cpu_listener = claim.listener();
    job.plan.is_head_elsewhere = place.kind == DaemonPlace::Kind::other_host;
    Result<Keeper> keeper = fork_keeper(job.plan);
    if (!keeper) {
        head.give_up({launcher_fault_status, std::string(last_error_text())});
        return 0;
    }
    redirect_to_null(STDIN_FILENO);
    job.plan.ranks.clear();
    Daemon(std::move(stream), std::move(job), std::move(*keeper), std::move(claim)).run();
    return 0;
}

}  // namespace dlrt::launcher
