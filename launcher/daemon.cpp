// SPDX-License-Identifier: Apache-2.0
#include "launcher/daemon.hpp"

#include "launcher/channel.hpp"
#include "launcher/control_server.hpp"
#include "launcher/descriptors.hpp"
#include "launcher/host_facts.hpp"
#include "launcher/input_feeder.hpp"
#include "launcher/keeper.hpp"
#include "launcher/output_pump.hpp"
#include "launcher/process_tree.hpp"
#include "launcher/rank_process.hpp"
#include "launcher/status_server.hpp"
#include "runtime/base/error_text.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Timer = asio::steady_timer;
constexpr std::chrono::seconds drain_time{1};
constexpr std::chrono::seconds keeper_kill_time{12};
constexpr int launcher_fault_status = 125;

class Daemon {
  public:
    Daemon(Fd stream, PreparedJob job, Keeper keeper);
    void run();

  private:
    void on_frame(Frame&& frame);
    void on_head_lost();

    void read_keeper();
    void on_report(const KeeperReport& report);
    void on_not_started(const KeeperReport& report);
    void on_rank_ended(const KeeperReport& report);
    void on_keeper_gone();
    void command(KeeperCommand::Kind kind, int signal = 0);

    void terminate(const Terminate& request);
    void begin_drain();
    void end_drain();
    void on_output_ended();
    void finish_if_done();

    void send(const Frame& frame) { head_.send(frame); }
    const std::string& host_name() const { return job_.map.hosts[job_.host_index].name; }

    asio::io_context loop_{1};
    PreparedJob job_;
    Keeper keeper_;
    Channel head_;
    DescriptorWatch keeper_link_;
    OutputPump output_;
    ControlServer control_;
    StatusServer status_;
    InputFeeder input_;
    Timer grace_timer_;
    Timer drain_timer_;
    Timer kill_timer_;
    std::vector<pid_t> pids_;  ///< By local rank; 0 while there is no process.
    std::vector<std::uint64_t> started_at_ns_;
    std::size_t started_count_ = 0;
    std::size_t ended_count_ = 0;
    bool is_suspending_ = false;
    bool has_failed_ = false;
    bool is_killing_ = false;
    bool is_finished_ = false;
};

Fd find_stdin_target(PreparedJob& job) {
    for (RankEnds& end : job.ends) {
        if (end.stdin_target.is_open()) return std::move(end.stdin_target);
    }
    return {};
}

Daemon::Daemon(Fd stream, PreparedJob job, Keeper keeper)
    : job_(std::move(job)),
      keeper_(std::move(keeper)),
      head_(
          loop_, std::move(stream),
          {[this](Frame&& frame) { on_frame(std::move(frame)); },
           [this](const std::string&) { on_head_lost(); }}
      ),
      keeper_link_(loop_, keeper_.link.release()),
      output_(
          loop_, job_.ends,
          {[this](std::uint32_t local_rank, StreamKind kind, std::string_view lines) {
               const auto bytes = std::as_bytes(std::span(lines));
               send(RankOutput{job_.ends[local_rank].rank, kind, {bytes.begin(), bytes.end()}});
           },
           [this] { on_output_ended(); }}
      ),
      control_(
          loop_, job_, {[this](std::uint32_t local_rank, std::int32_t pid, const Abort& abort) {
              send(RankAborted{job_.ends[local_rank].rank, pid, abort.code, abort.text});
          }}
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
      kill_timer_(loop_),
      pids_(job_.ends.size(), 0),
      started_at_ns_(job_.ends.size(), 0) {
    for (std::uint32_t local_rank = 0; local_rank < job_.ends.size(); ++local_rank) {
        if (job_.ends[local_rank].stdin_target.is_open()) output_.pass_on_prompts_of(local_rank);
    }
    input_.set_target(find_stdin_target(job_));
    status_.set_pids(pids_);
    // Doorbells of ranks that sleep on descriptors are rung by whoever changes what they wait for.
    job_.segment.set_wake_descriptor([this](std::uint32_t local_rank) {
        const std::uint64_t one = 1;
        static_cast<void>(::write(job_.ends[local_rank].doorbell.get(), &one, sizeof one));
    });
    keeper_link_.when_readable([this] { read_keeper(); });
}

void Daemon::run() {
    for (const Status status : {control_.listen(), status_.listen()}) {
        if (status.ok()) continue;
        send(HostFailed{
            launcher_fault_status, fmt::format("host {}: {}", host_name(), last_error_text())});
        command(KeeperCommand::Kind::kill_all);
        break;
    }
    loop_.run();
    head_.flush_blocking();
}

void Daemon::on_frame(Frame&& frame) {
    if (const auto* written = std::get_if<OutputWritten>(&frame)) {
        output_.taken(job_.map.ranks.at(written->rank).local_rank, written->size_bytes);
    } else if (const auto* request = std::get_if<Terminate>(&frame)) {
        terminate(*request);
    } else if (const auto* passed_on = std::get_if<SignalRanks>(&frame)) {
        command(KeeperCommand::Kind::signal_ranks, passed_on->signal);
    } else if (std::holds_alternative<SuspendRanks>(frame)) {
        is_suspending_ = true;
        command(KeeperCommand::Kind::signal_ranks, SIGSTOP);
    } else if (auto* bytes = std::get_if<StdinBytes>(&frame)) {
        input_.add(std::move(bytes->bytes));
    }
}

void Daemon::on_head_lost() {
    // Nobody is left to tell: only clean up. The keeper's end of the link ends the loop.
    output_.close_all();
    command(KeeperCommand::Kind::kill_all);
    finish_if_done();
}

void Daemon::command(KeeperCommand::Kind kind, int signal) {
    if (!keeper_link_.is_open()) return;
    if (kind == KeeperCommand::Kind::kill_all && !is_killing_) {
        is_killing_ = true;
        // A keeper that is stopped or stuck must not keep the job alive; this process can do its
        // work.
        kill_timer_.expires_after(keeper_kill_time);
        kill_timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) ::kill(keeper_.pid, SIGKILL);
        });
    }
    const KeeperCommand command{kind, signal};
    ::send(keeper_link_.get(), &command, sizeof command, MSG_NOSIGNAL);
}

void Daemon::terminate(const Terminate& request) {
    if (request.grace_ms == 0) return command(KeeperCommand::Kind::kill_all);
    command(KeeperCommand::Kind::signal_ranks, SIGCONT);
    command(KeeperCommand::Kind::signal_ranks, request.signal);
    grace_timer_.expires_after(std::chrono::milliseconds(request.grace_ms));
    grace_timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) command(KeeperCommand::Kind::kill_all);
    });
}

void Daemon::read_keeper() {
    while (keeper_link_.is_open()) {
        KeeperReport report;
        const ssize_t got = ::recv(keeper_link_.get(), &report, sizeof report, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
        if (got != static_cast<ssize_t>(sizeof report)) return on_keeper_gone();
        on_report(report);
    }
    keeper_link_.when_readable([this] { read_keeper(); });
}

void Daemon::on_report(const KeeperReport& report) {
    switch (report.kind) {
        case KeeperReport::Kind::started:
            pids_[report.local_rank] = report.pid;
            started_at_ns_[report.local_rank] = report.time_ns;
            control_.set_rank_pid(report.local_rank, report.pid);
            if (++started_count_ == pids_.size()) {
                send(RanksStarted{{pids_.begin(), pids_.end()}});
            }
            break;
        case KeeperReport::Kind::not_started:
            on_not_started(report);
            break;
        case KeeperReport::Kind::ended:
            on_rank_ended(report);
            break;
        case KeeperReport::Kind::signalled:
            if (is_suspending_ && report.value == SIGSTOP) {
                is_suspending_ = false;
                send(RanksSuspended{});
            }
            break;
    }
}

void Daemon::on_not_started(const KeeperReport& report) {
    const RankEnds& end = job_.ends[report.local_rank];
    const PreparedProgram& program = job_.plan.programs[job_.map.ranks[end.rank].block_index];
    int exit_status = launcher_fault_status;
    std::string what = fmt::format("rank {} could not be started", end.rank);
    switch (static_cast<StartStage>(report.stage)) {
        case StartStage::exec:
            // The file is there: what is absent is what its first line or its header names.
            exit_status = report.value == ENOENT ? 127 : 126;
            what = fmt::format("program '{}' cannot be executed", program.name);
            if (report.value == ENOENT) what += " (its interpreter is missing)";
            break;
        case StartStage::working_directory:
            what = fmt::format("cannot use the working directory '{}'", program.working_directory);
            break;
        case StartStage::binding:
            what += " on its cpus";
            break;
        case StartStage::fork:
        case StartStage::descriptors:
            break;
    }
    has_failed_ = true;
    send(HostFailed{
        exit_status, fmt::format("host {}: {}: {}", host_name(), what, std::strerror(report.value))}
    );
}

void Daemon::on_rank_ended(const KeeperReport& report) {
    const std::uint32_t local_rank = report.local_rank;
    pids_[local_rank] = 0;
    ++ended_count_;
    control_.take_pending(local_rank);
    const bool is_unfinalized = control_.is_claimed(local_rank);
    // After a failure the job ends anyway; that others then miss this rank is no news.
    if (report.value == 0) control_.give_up_claim(local_rank);
    send(RankEnded{
        job_.ends[local_rank].rank, report.pid, report.value,
        report.time_ns - started_at_ns_[local_rank], is_unfinalized});
    if (ended_count_ == pids_.size()) begin_drain();
}

void Daemon::begin_drain() {
    grace_timer_.cancel();
    if (output_.has_ended()) return on_output_ended();
    drain_timer_.expires_after(drain_time);
    drain_timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) end_drain();
    });
}

void Daemon::end_drain() {
    const std::vector<pid_t> left = living_descendants(keeper_.pid);
    const std::vector<ino_t> pipes = output_.open_pipes();
    if (const pid_t holder = find_pipe_holder(left, pipes); holder != 0) {
        const auto state = read_process_state(holder);
        send(Notice{fmt::format(
            "process {} ({}) on {} held the output open after all ranks had ended; it was killed",
            holder, state ? state->name : "?", host_name()
        )});
    }
    command(KeeperCommand::Kind::kill_all);
}

void Daemon::on_output_ended() {
    if (ended_count_ == pids_.size()) command(KeeperCommand::Kind::kill_all);
    finish_if_done();
}

void Daemon::on_keeper_gone() {
    keeper_link_.close();
    int wait_status = 0;
    ::waitpid(keeper_.pid, &wait_status, 0);
    const bool is_lost = wait_status != 0 || (ended_count_ < started_count_ && !has_failed_);
    // What the keeper left behind has become ours.
    const bool is_clean = kill_and_reap_all_children();
    if (is_lost && head_.is_open()) {
        send(HostFailed{
            launcher_fault_status,
            fmt::format("host {}: the process that keeps the ranks was lost", host_name())});
    }
    if (!is_clean) {
        send(Notice{fmt::format("host {}: some processes cannot be killed", host_name())});
    }
    output_.end_when_empty();
    finish_if_done();
}

void Daemon::finish_if_done() {
    if (is_finished_ || keeper_link_.is_open() || !output_.has_ended()) return;
    is_finished_ = true;
    send(JobEnded{});
    asio::post(loop_, [this] { loop_.stop(); });
}

/// Before the event loop: what has been asked for, or nothing when the head went away.
Result<StartJob> receive_job(int stream) {
    if (const Status status = send_frame(stream, find_host_facts()); !status.ok()) return status;
    Result<Frame> frame = receive_frame(stream);
    if (!frame) return frame.error();
    auto* job = std::get_if<StartJob>(&*frame);
    if (job == nullptr) return fail(Errc::wireup, "the head said something else than StartJob");
    return std::move(*job);
}

}  // namespace

int run_daemon(Fd stream, const ProcessDefaults& defaults) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "dlrund");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ignore_pipe_signal();
    redirect_to_null(STDOUT_FILENO);
    Result<StartJob> asked = receive_job(stream.get());
    if (!asked) return asked.error().code == Errc::peer_lost ? 0 : launcher_fault_status;
    auto prepared = prepare_job(std::move(*asked), defaults);
    if (const auto* failure = std::get_if<HostFailed>(&prepared)) {
        static_cast<void>(send_frame(stream.get(), *failure));
        static_cast<void>(send_frame(stream.get(), JobEnded{}));
        return 0;
    }
    auto& job = std::get<PreparedJob>(prepared);
    Result<Keeper> keeper = fork_keeper(job.plan);
    if (!keeper) {
        static_cast<void>(send_frame(stream.get(), HostFailed{125, last_error_text()}));
        static_cast<void>(send_frame(stream.get(), JobEnded{}));
        return 0;
    }
    redirect_to_null(STDIN_FILENO);
    job.plan.ranks.clear();
    Daemon(std::move(stream), std::move(job), std::move(*keeper)).run();
    return 0;
}

}  // namespace dlrt::launcher
