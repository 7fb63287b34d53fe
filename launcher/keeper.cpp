// SPDX-License-Identifier: Apache-2.0
#include "launcher/keeper.hpp"

#include "launcher/cpu_claim.hpp"
#include "launcher/descriptors.hpp"
#include "launcher/heartbeat.hpp"
#include "launcher/process_tree.hpp"
#include "launcher/rank_process.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dlrt::launcher {
namespace {

constexpr int kill_pause_ms = 2;
constexpr std::uint64_t kill_limit_ns = 10'000'000'000;

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings) pointers.push_back(string.data());
    return pointers;
}

std::uint64_t microseconds_of(const timeval& time) {
    constexpr std::uint64_t us_per_s = 1'000'000;
    return static_cast<std::uint64_t>(time.tv_sec) * us_per_s +
           static_cast<std::uint64_t>(time.tv_usec);
}

void close_ends(RankPlan& rank) {
    rank.output.reset();
    rank.error_output.reset();
    rank.control.reset();
    rank.stdin_source.reset();
}

class KeeperProcess {
  public:
    KeeperProcess(LaunchPlan& plan, Fd link, Fd signals)
        : plan_(plan),
          link_(std::move(link)),
          signals_(std::move(signals)),
          pids_(plan.ranks.size(), 0) {}

    /// Until nobody is left below this process.
    void run();
    /// Afterwards: a daemon that was missed, and is stopped, would stay for ever.
    void end_stopped_daemon() const;

  private:
    void start_next();
    void report(KeeperReport report);
    /// Returns whether there still are children.
    bool reap();
    void obey_commands();
    void obey(const KeeperCommand& command);
    void signal_ranks(int signal);
    void begin_killing();
    void abandon_unstarted();
    void read_signals();
    [[nodiscard]] bool is_gate_closed() const;
    int wait_ms(bool may_start) const;
    StartResult start(RankPlan& rank);

    LaunchPlan& plan_;
    Fd link_;
    Fd signals_;
    std::vector<pid_t> pids_;  ///< By local rank; 0 before its start and after its end.
    std::size_t next_to_start_ = 0;
    std::uint32_t silent_beats_ = 0;
    bool is_told_to_end_ = false;
    bool is_killing_ = false;
    bool has_missed_daemon_ = false;
    std::uint64_t kill_limit_at_ns_ = 0;
};

void KeeperProcess::run() {
    while (true) {
        const bool has_more = !is_killing_ && next_to_start_ < plan_.ranks.size();
        const bool is_gated = has_more && is_gate_closed();
        const bool may_start = has_more && !is_gated;
        if (may_start) start_next();
        if (!reap() && (is_killing_ || next_to_start_ == plan_.ranks.size())) return;
        if (is_killing_) {
            kill_descendants(::getpid());
            if (monotonic_ns() > kill_limit_at_ns_) return;
        }
        // Once the daemon is gone its end would be readable for ever.
        pollfd entries[] = {
            {link_.is_open() ? link_.get() : -1, POLLIN, 0},
            {signals_.get(), POLLIN, 0},
            {is_gated ? plan_.start_gate.get() : -1, POLLIN, 0}};
        const int ready = ::poll(entries, 3, wait_ms(may_start));
        if (entries[0].revents != 0) obey_commands();
        if (entries[1].revents != 0) read_signals();
        const bool is_idle = ready == 0 && !may_start && !is_killing_;
        // The daemon is stopped or stuck, and so may be the head.
        if (is_idle && ++silent_beats_ > silent_beats_max) {
            has_missed_daemon_ = true;
            report({KeeperReport::Kind::missed_daemon});
            begin_killing();
        }
    }
}

void KeeperProcess::end_stopped_daemon() const {
    // On the head's own host both may be stopped, and the head does it. One on another host gives
    // the daemon up for the same silence, and shall have done so before the daemon ends.
    constexpr int beats_granted = 3;
    if (!has_missed_daemon_ || !plan_.is_head_elsewhere) return;
    const pid_t daemon = ::getppid();
    for (int beat = 0; beat <= beats_granted; ++beat) {
        const auto state = read_process_state(daemon);
        if (!state || state->name != "dlrund" || state->letter != 'T') return;
        if (beat < beats_granted) ::poll(nullptr, 0, static_cast<int>(plan_.heartbeat_ms));
    }
    ::kill(daemon, SIGKILL);
}

bool KeeperProcess::is_gate_closed() const {
    if (!plan_.start_gate.is_open() || next_to_start_ + 1 < plan_.ranks.size()) return false;
    pollfd entry{plan_.start_gate.get(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 0;
}

int KeeperProcess::wait_ms(bool may_start) const {
    if (may_start) return 0;
    return is_killing_ ? kill_pause_ms : static_cast<int>(plan_.heartbeat_ms);
}

void KeeperProcess::read_signals() {
    signalfd_siginfo signal;
    while (::read(signals_.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
        if (signal.ssi_signo == SIGCHLD) continue;
        report({KeeperReport::Kind::got_signal, 0, 0, static_cast<std::int32_t>(signal.ssi_signo)});
    }
}

void KeeperProcess::report(KeeperReport report) {
    report.time_ns = monotonic_ns();
    report.is_told_to_end = is_told_to_end_ ? 1 : 0;
    if (link_.is_open()) ::send(link_.get(), &report, sizeof report, MSG_NOSIGNAL);
}

StartResult KeeperProcess::start(RankPlan& rank) {
    PreparedProgram& program = plan_.programs[rank.program_index];
    std::vector<char*> arguments = pointers_to(program.arguments);
    arguments.push_back(nullptr);
    char shell[] = "/bin/sh";
    std::vector<char*> shell_arguments = {shell, program.path.data()};
    shell_arguments.insert(shell_arguments.end(), arguments.begin() + 1, arguments.end());
    std::vector<char*> environment = pointers_to(rank.identity);
    const std::vector<char*> inherited = pointers_to(program.environment);
    environment.insert(environment.end(), inherited.begin(), inherited.end());
    environment.push_back(nullptr);

    RankStart start;
    start.path = program.path.c_str();
    start.arguments = arguments.data();
    start.shell_arguments = shell_arguments.data();
    start.environment = environment.data();
    start.working_directory = program.working_directory.c_str();
    const int input = rank.takes_own_stdin          ? STDIN_FILENO
                      : rank.stdin_source.is_open() ? rank.stdin_source.get()
                                                    : plan_.null_device.get();
    const Fd& error_output = rank.error_output.is_open() ? rank.error_output : rank.output;
    start.standard_descriptors = {input, rank.output.get(), error_output.get()};
    start.passed_descriptors = {rank.control.get(), plan_.job_map, plan_.segment, rank.doorbell};
    start.first_target = plan_.first_descriptor;
    start.defaults = &plan_.defaults;
    start.memory = &rank.memory;
    std::vector<cpu_set_t> cpus;
    if (!rank.cpus.empty()) {
        cpus.resize(*std::ranges::max_element(rank.cpus) / CPU_SETSIZE + 1);
        start.cpus = cpus.data();
        start.cpus_size_bytes = cpus.size() * sizeof(cpu_set_t);
        for (const std::uint32_t cpu : rank.cpus) {
            CPU_SET_S(cpu, start.cpus_size_bytes, cpus.data());
        }
    }
    return start_rank(start);
}

void KeeperProcess::start_next() {
    const auto local_rank = static_cast<std::uint32_t>(next_to_start_++);
    RankPlan& rank = plan_.ranks[local_rank];
    const StartResult result = start(rank);
    if (result.pid < 0) {
        report(
            {KeeperReport::Kind::not_started, local_rank, 0, result.error,
             static_cast<std::uint32_t>(result.stage)}
        );
        begin_killing();
        return;
    }
    pids_[local_rank] = result.pid;
    report({KeeperReport::Kind::started, local_rank, result.pid});
    // The rank has its own now, and the ends of pipes are seen only when nobody else holds them.
    close_ends(rank);
    if (rank.takes_own_stdin) redirect_to_null(STDIN_FILENO);
}

bool KeeperProcess::reap() {
    int wait_status = 0;
    pid_t pid = 0;
    rusage usage = {};
    while ((pid = ::wait4(-1, &wait_status, WNOHANG, &usage)) > 0) {
        const auto found = std::ranges::find(pids_, pid);
        if (found == pids_.end()) continue;
        *found = 0;
        const auto local_rank = static_cast<std::uint32_t>(found - pids_.begin());
        KeeperReport end{KeeperReport::Kind::ended, local_rank, pid, wait_status};
        end.max_rss_kib = static_cast<std::uint64_t>(usage.ru_maxrss);
        end.user_us = microseconds_of(usage.ru_utime);
        end.system_us = microseconds_of(usage.ru_stime);
        report(end);
    }
    return pid == 0;
}

void KeeperProcess::obey_commands() {
    KeeperCommand command;
    while (true) {
        const ssize_t got = ::recv(link_.get(), &command, sizeof command, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got != static_cast<ssize_t>(sizeof command)) {
            link_.reset();
            begin_killing();
            return;
        }
        silent_beats_ = 0;
        obey(command);
    }
}

void KeeperProcess::obey(const KeeperCommand& command) {
    switch (command.kind) {
        case KeeperCommand::Kind::beat:
            return report({KeeperReport::Kind::alive});
        case KeeperCommand::Kind::kill_all:
            return begin_killing();
        case KeeperCommand::Kind::end_ranks:
            // Who has ended by now did so by itself.
            reap();
            is_told_to_end_ = true;
            abandon_unstarted();
            break;
        case KeeperCommand::Kind::signal_ranks:
            break;
    }
    signal_ranks(command.signal);
    report({KeeperReport::Kind::signalled, 0, 0, command.signal});
}

void KeeperProcess::abandon_unstarted() {
    for (; next_to_start_ < plan_.ranks.size(); ++next_to_start_) {
        close_ends(plan_.ranks[next_to_start_]);
        report({KeeperReport::Kind::abandoned, static_cast<std::uint32_t>(next_to_start_)});
    }
}

void KeeperProcess::signal_ranks(int signal) {
    for (const pid_t pid : pids_) {
        if (pid > 0) ::kill(-pid, signal);
    }
}

void KeeperProcess::begin_killing() {
    if (is_killing_) return;
    reap();
    is_told_to_end_ = true;
    is_killing_ = true;
    kill_limit_at_ns_ = monotonic_ns() + kill_limit_ns;
}

/// Descriptors that the keeper needs; the daemon's ends of pipes must not stay open here.
std::vector<int> needed_descriptors(const LaunchPlan& plan, const Fd& link) {
    std::vector<int> needed = {STDIN_FILENO,           STDERR_FILENO,    link.get(),
                               plan.null_device.get(), plan.job_map,     plan.segment,
                               plan.start_gate.get(),  plan.cpu_listener};
    for (const RankPlan& rank : plan.ranks) {
        for (const int descriptor :
             {rank.stdin_source.get(), rank.output.get(), rank.error_output.get(),
              rank.control.get(), rank.doorbell}) {
            needed.push_back(descriptor);
        }
    }
    return needed;
}

[[noreturn]] void be_keeper(LaunchPlan& plan, Fd link) {
    ::prctl(PR_SET_NAME, "dlrt-keeper");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    close_descriptors_except(needed_descriptors(plan, link));
    hold_cpus(plan.cpu_listener);
    sigset_t heeded;
    ::sigemptyset(&heeded);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGQUIT}) ::sigaddset(&heeded, signal);
    if (!plan.defaults.ignores_hangup) ::sigaddset(&heeded, SIGHUP);
    Fd signals(::signalfd(-1, &heeded, SFD_CLOEXEC | SFD_NONBLOCK));
    KeeperProcess keeper(plan, std::move(link), std::move(signals));
    keeper.run();
    keeper.end_stopped_daemon();
    ::_exit(0);
}

}  // namespace

Result<Keeper> fork_keeper(LaunchPlan& plan) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail_errno(errno, "cannot make a socket pair");
    }
    Fd daemon_side(ends[0]);
    Fd keeper_side(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0) return fail_errno(errno, "cannot start the keeper");
    if (pid == 0) {
        daemon_side.reset();
        be_keeper(plan, std::move(keeper_side));
    }
    return Keeper{pid, std::move(daemon_side)};
}

}  // namespace dlrt::launcher
