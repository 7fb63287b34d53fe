// SPDX-License-Identifier: Apache-2.0
#include "launcher/head.hpp"

#include "launcher/channel.hpp"
#include "launcher/daemon.hpp"
#include "launcher/descriptors.hpp"
#include "launcher/host_facts.hpp"
#include "launcher/job_builder.hpp"
#include "launcher/job_outcome.hpp"
#include "launcher/lost_daemon.hpp"
#include "launcher/output_path.hpp"
#include "launcher/terminal_input.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/control_socket.hpp"
#include "runtime/wireup/message.hpp"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Timer = asio::steady_timer;
constexpr int launcher_fault_status = 125;
constexpr std::chrono::seconds last_output_time{1};

class Head {
  public:
    Head(
        const Options& options, CallerContext context, Fd stream, pid_t daemon_pid,
        const ProcessDefaults& defaults
    );
    int run();

  private:
    void on_frame(Frame&& frame);
    void on_host_facts(const HostFacts& facts);
    void on_rank_ended(const RankEnded& end);
    void on_daemon_lost(const std::string& reason);
    void on_job_ended();

    void wait_for_signals();
    void on_signal(int signal);
    void end_by_signal(int signal);
    void start_timeout();

    /// The first cause wins; later ones are consequences.
    void set_cause(Cause cause);
    void end_job(Cause cause, int signal);
    void on_output_failed(int error);
    void finish_if_written();
    void say(std::string_view line) { output_.add_own_line(fmt::format("dlrun: {}", line)); }
    void say_how_it_ended();
    std::string host_of(std::uint32_t rank) const;

    const Options& options_;
    CallerContext context_;
    asio::io_context loop_{1};
    pid_t daemon_pid_;
    Channel daemon_;
    OutputPath output_;
    TerminalInput terminal_;
    asio::signal_set signals_;
    Timer timeout_timer_;
    Timer last_output_timer_;
    JobMap map_;
    std::string daemon_host_ = "?";
    Cause cause_;
    std::uint32_t ended_count_ = 0;
    std::uint32_t terminated_count_ = 0;
    std::vector<std::uint32_t> unfinalized_ranks_;
    int urgency_ = 0;  ///< 0: the job runs. 1: ranks have their grace. 2: everybody is being
                       ///< killed.
    bool has_started_ = false;       ///< The daemon has been told to start the ranks.
    bool have_all_started_ = false;  ///< All of them run their programs.
    bool has_ended_ = false;
};

Head::Head(
    const Options& options, CallerContext context, Fd stream, pid_t daemon_pid,
    const ProcessDefaults& defaults
)
    : options_(options),
      context_(std::move(context)),
      daemon_pid_(daemon_pid),
      daemon_(
          loop_, std::move(stream),
          {[this](Frame&& frame) { on_frame(std::move(frame)); },
           [this](const std::string& reason) { on_daemon_lost(reason); }}
      ),
      output_(
          loop_, !options.output.tag_format.empty() ? Tagging::rank : Tagging::off,
          {[this](std::uint32_t rank, std::size_t size_bytes) {
               daemon_.send(OutputWritten{rank, size_bytes});
           },
           [this](int error) { on_output_failed(error); }, [this] { finish_if_written(); }}
      ),
      terminal_(
          loop_,
          [this](std::vector<std::byte> bytes) { daemon_.send(StdinBytes{std::move(bytes)}); }
      ),
      signals_(loop_),
      timeout_timer_(loop_),
      last_output_timer_(loop_) {
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2}) {
        signals_.add(signal);
    }
    if (!defaults.ignores_hangup) signals_.add(SIGHUP);
    wait_for_signals();
}

int Head::run() {
    loop_.run();
    return exit_status_of(cause_);
}

void Head::on_frame(Frame&& frame) {
    if (auto* output = std::get_if<RankOutput>(&frame)) {
        output_.add(output->rank, output->stream, output->bytes);
    } else if (const auto* end = std::get_if<RankEnded>(&frame)) {
        on_rank_ended(*end);
    } else if (const auto* facts = std::get_if<HostFacts>(&frame)) {
        on_host_facts(*facts);
    } else if (auto* abort = std::get_if<RankAborted>(&frame)) {
        Cause cause = make_cause(CauseKind::rank_aborted, abort->code, std::move(abort->text));
        cause.rank = abort->rank;
        cause.host = host_of(abort->rank);
        cause.pid = abort->pid;
        end_job(std::move(cause), SIGTERM);
    } else if (auto* failure = std::get_if<HostFailed>(&frame)) {
        end_job(
            make_cause(CauseKind::host_failed, failure->exit_status, std::move(failure->text)),
            SIGTERM
        );
    } else if (const auto* taken = std::get_if<StdinTaken>(&frame)) {
        if (taken->is_closed)
            terminal_.stop();
        else
            terminal_.taken(taken->size_bytes);
    } else if (std::holds_alternative<RanksSuspended>(frame)) {
        ::raise(SIGSTOP);
    } else if (std::holds_alternative<RanksStarted>(frame)) {
        have_all_started_ = true;
    } else if (const auto* notice = std::get_if<Notice>(&frame)) {
        say(notice->text);
    } else if (std::holds_alternative<JobEnded>(frame)) {
        on_job_ended();
    }
}

void Head::on_host_facts(const HostFacts& facts) {
    daemon_host_ = facts.host_name;
    Result<BuiltJob> job = build_job(options_, context_, facts);
    if (!job) {
        set_cause(make_cause(CauseKind::host_failed, launcher_fault_status, last_error_text()));
        daemon_.close();
        return on_job_ended();
    }
    map_ = std::move(job->map);
    for (const std::string& warning : job->warnings) say("warning: " + warning);
    if (options_.is_verbose) {
        say(fmt::format(
            "job {}: {} rank{} on {}, {} usable cpu{}{}", map_.job_id, map_.size(),
            map_.size() == 1 ? "" : "s", facts.host_name, facts.usable_cpu_count,
            facts.usable_cpu_count == 1 ? "" : "s",
            options_.rank_count() ? "" : " (no -np: one rank for each)"
        ));
    }
    has_started_ = true;
    daemon_.send(job->start);
    if (context_.stdin_kind == StdinKind::forwarded && !terminal_.start()) {
        daemon_.send(StdinBytes{});
    }
    start_timeout();
}

void Head::start_timeout() {
    if (!options_.timeout_ms) return;
    timeout_timer_.expires_after(std::chrono::milliseconds(*options_.timeout_ms));
    timeout_timer_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        end_job(
            make_cause(CauseKind::timed_out, static_cast<std::int64_t>(*options_.timeout_ms)),
            SIGTERM
        );
    });
}

void Head::on_rank_ended(const RankEnded& end) {
    ++ended_count_;
    if (end.is_unfinalized && end.wait_status == 0) unfinalized_ranks_.push_back(end.rank);
    Cause cause = cause_of_wait_status(end.wait_status);
    if (cause.kind == CauseKind::none) return;
    cause.rank = end.rank;
    cause.host = host_of(end.rank);
    cause.pid = end.pid;
    cause.lifetime_ns = end.lifetime_ns;
    end_job(std::move(cause), SIGTERM);
}

void Head::set_cause(Cause cause) {
    if (cause_.kind != CauseKind::none) return;
    cause_ = std::move(cause);
    // Of a host that could not start its ranks nothing is known to have run.
    const bool is_known = have_all_started_ || cause_.kind != CauseKind::host_failed;
    const std::uint32_t own_count = cause_.kind == CauseKind::rank_aborted ? 1 : 0;
    terminated_count_ = is_known ? map_.size() - ended_count_ - own_count : 0;
}

void Head::end_job(Cause cause, int signal) {
    set_cause(std::move(cause));
    if (urgency_ > 0) return;
    urgency_ = 1;
    timeout_timer_.cancel();
    if (ended_count_ < map_.size()) daemon_.send(Terminate{signal, options_.grace_ms});
}

void Head::wait_for_signals() {
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
        if (error) return;
        on_signal(signal);
        wait_for_signals();
    });
}

void Head::on_signal(int signal) {
    switch (signal) {
        case SIGTSTP:
            if (has_started_)
                daemon_.send(SuspendRanks{});
            else
                ::raise(SIGSTOP);
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

void Head::end_by_signal(int signal) {
    const Cause cause = make_cause(CauseKind::signalled, signal);
    if (has_ended_) {
        // Only a reader is waited for that doesn't read.
        set_cause(cause);
        return loop_.stop();
    }
    if (urgency_ == 0) {
        if (has_started_) return end_job(cause, signal);
        set_cause(cause);
        daemon_.close();
        return on_job_ended();
    }
    // Somebody is in a hurry: the daemons kill at once, and without us too.
    if (urgency_ >= 2) ::_exit(exit_status_of(cause_));
    urgency_ = 2;
    daemon_.send(Terminate{SIGKILL, 0});
}

void Head::on_output_failed(int error) {
    if (error == EPIPE) return end_job(make_cause(CauseKind::reader_gone, 0), SIGTERM);
    const std::string text = fmt::format("cannot write the output: {}", std::strerror(error));
    end_job(make_cause(CauseKind::host_failed, launcher_fault_status, text), SIGTERM);
}

void Head::on_daemon_lost(const std::string& reason) {
    if (has_ended_) return;
    set_cause(make_cause(
        CauseKind::host_failed, launcher_fault_status,
        fmt::format("the daemon on {} was lost ({})", daemon_host_, reason)
    ));
    end_processes_of_lost_daemon(daemon_pid_, context_.job_id);
    on_job_ended();
}

void Head::on_job_ended() {
    if (std::exchange(has_ended_, true)) return;
    timeout_timer_.cancel();
    terminal_.stop();
    say_how_it_ended();
    output_.end();
    if (cause_.kind != CauseKind::none) {
        // Of a job that failed the rest of the output isn't worth waiting for a reader that stalls.
        last_output_timer_.expires_after(last_output_time);
        last_output_timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) loop_.stop();
        });
    }
    finish_if_written();
}

void Head::say_how_it_ended() {
    if (!unfinalized_ranks_.empty()) {
        const std::size_t others = unfinalized_ranks_.size() - 1;
        say(fmt::format(
            "note: rank {}{} ended without finalizing dlrt", unfinalized_ranks_[0],
            others == 0 ? "" : fmt::format(" and {} other{}", others, others == 1 ? "" : "s")
        ));
    }
    if (std::string line = describe(cause_, terminated_count_); !line.empty()) say(line);
}

void Head::finish_if_written() {
    if (has_ended_ && output_.is_empty()) loop_.stop();
}

std::string Head::host_of(std::uint32_t rank) const {
    if (rank >= map_.size()) return daemon_host_;
    return map_.hosts[map_.ranks[rank].host_index].name;
}

/// Puts what the ranks shall read on descriptor 0 and says how they get it.
Result<StdinKind> prepare_stdin(const StdinChoice& choice) {
    if (choice.kind == StdinChoice::Kind::none) return StdinKind::none;
    if (choice.kind == StdinChoice::Kind::file) {
        const Fd file(::open(choice.file.c_str(), O_RDONLY | O_CLOEXEC));
        struct stat facts = {};
        if (!file.is_open() || ::fstat(file.get(), &facts) != 0) {
            return fail_errno(errno, "--stdin: cannot open '{}'", choice.file);
        }
        if (S_ISDIR(facts.st_mode)) {
            return fail(Errc::argument, "--stdin: '{}' is a folder; valid is a file", choice.file);
        }
        ::dup2(file.get(), STDIN_FILENO);
        return StdinKind::descriptor;
    }
    return ::isatty(STDIN_FILENO) == 1 ? StdinKind::forwarded : StdinKind::descriptor;
}

Result<CallerContext> find_context(const Options& options) {
    CallerContext context;
    for (char** entry = environ; *entry != nullptr; ++entry)
        context.environment.emplace_back(*entry);
    if (char* folder = ::getcwd(nullptr, 0)) {
        // A deleted folder is "(unreachable)…" or an error, as the kernel likes.
        if (folder[0] == '/') context.working_directory = folder;
        ::free(folder);
    }
    Result<std::string> job_id = random_hex(6);
    Result<std::string> token = random_hex(16);
    if (!job_id || !token) return Status{Errc::system};
    context.job_id = std::move(*job_id);
    context.token = std::move(*token);
    const Result<StdinKind> stdin_kind = prepare_stdin(options.stdin_choice);
    if (!stdin_kind) return stdin_kind.error();
    context.stdin_kind = *stdin_kind;
    return context;
}

struct LocalDaemon {
    pid_t pid = 0;
    Fd stream;
};

/// The daemon of this host is a fork: the same code as dlrund's, without its start-up cost.
Result<LocalDaemon> fork_daemon(const ProcessDefaults& defaults) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail_errno(errno, "cannot make a socket pair");
    }
    Fd head_side(ends[0]);
    Fd daemon_side(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0) return fail_errno(errno, "cannot start the daemon");
    if (pid == 0) {
        close_descriptors_except({STDIN_FILENO, STDERR_FILENO, daemon_side.get()});
        static_cast<void>(head_side.release());
        ::_exit(run_daemon(std::move(daemon_side), defaults));
    }
    return LocalDaemon{pid, std::move(head_side)};
}

}  // namespace

void print_own_line(std::string_view line) {
    const std::string text = fmt::format("dlrun: {}\n", line);
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
}

int run_head(const Options& options, const ProcessDefaults& defaults) {
    ignore_pipe_signal();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Result<CallerContext> context = find_context(options);
    if (!context) {
        print_own_line(last_error_text());
        return launcher_fault_status;
    }
    Result<LocalDaemon> daemon = fork_daemon(defaults);
    if (!daemon) {
        print_own_line(last_error_text());
        return launcher_fault_status;
    }
    // The rank that reads the input has it now; a writer must see when that rank closes it.
    if (context->stdin_kind == StdinKind::descriptor) redirect_to_null(STDIN_FILENO);
    int exit_status = 0;
    {
        Head head(options, std::move(*context), std::move(daemon->stream), daemon->pid, defaults);
        exit_status = head.run();
    }
    int wait_status = 0;
    ::waitpid(daemon->pid, &wait_status, 0);
    return exit_status;
}

}  // namespace dlrt::launcher
