// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_head.hpp"

#include "launcher/hosts_to_ask.hpp"
#include "launcher/job_preview.hpp"
#include "launcher/output_rule.hpp"
#include "launcher/topology_need.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <numeric>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int launcher_fault_status = 125;
constexpr std::chrono::seconds last_output_time{1};

Fleet::TreeRules tree_rules(const Options& options) {
    Fleet::TreeRules rules;
    rules.way = options.control;
    rules.width = options.control_width;
    // Whoever can't reach its parent has the time to say so.
    rules.connect_limit_ms = std::min(rules.connect_limit_ms, options.start_timeout_ms / 2);
    rules.port_first = options.port_first;
    rules.port_last = options.port_last;
    return rules;
}

}  // namespace

Head::Head(
    const Options& options, CallerContext context, const ProcessDefaults& defaults,
    std::optional<JobReport> report, RemoteWay way
)
    : options_(options),
      context_(std::move(context)),
      fleet_(
          loop_,
          {context_.heartbeat_ms, context_.job_id, options.launch_width, std::move(way),
           tree_rules(options)},
          fleet_handlers()
      ),
      output_(
          loop_, {[this](std::uint32_t rank, std::size_t size_bytes) {
                      fleet_.send(map_.ranks[rank].host_index, OutputWritten{rank, size_bytes});
                  },
                  [this](int error) { on_output_failed(error); }, [this] { finish_if_written(); }}
      ),
      input_(
          loop_, [this](std::uint32_t host, const StdinBytes& input) { fleet_.send(host, input); }
      ),
      signals_(loop_),
      timers_(
          loop_, options,
          {[this] { on_timeout(); }, [this] { on_start_timeout(); },
           [this](int signal) { fleet_.send_all(SignalRanks{signal}); }}
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

Fleet::Handlers Head::fleet_handlers() {
    Fleet::Handlers handlers;
    handlers.question = [this](std::uint32_t host, const HostFacts& facts) {
        return question_for(host, facts);
    };
    handlers.on_described = [this] { on_described(); };
    handlers.on_unreachable = [this](std::vector<std::string> problems) {
        on_unreachable(std::move(problems));
    };
    handlers.on_frame = [this](std::uint32_t host, Frame&& frame) {
        std::visit([&](auto&& said) { take(host, std::move(said)); }, std::move(frame));
    };
    handlers.on_losing = [this] { end_ranks(SIGTERM); };
    handlers.on_lost = [this](std::uint32_t host, const std::string& reason) {
        on_daemon_lost(host, reason);
    };
    handlers.on_remark = [this](std::string_view line) { say(line); };
    return handlers;
}

void Head::say(std::string_view line) {
    progress_.make_way();
    output_.add_own_line(fmt::format("dlrun: {}", line));
}

int Head::run(std::optional<LocalDaemon> local) {
    const std::vector<AllocatedHost>& hosts = context_.allocation.hosts;
    const std::vector<bool> is_asked = hosts_to_ask(options_, context_.allocation);
    bool is_anybody_remote = false;
    for (std::uint32_t place = 0; place < hosts.size(); ++place) {
        if (!is_asked[place]) continue;
        if (hosts[place].is_own) {
            fleet_.add_local(place, hosts[place].name, std::move(*local));
        } else {
            fleet_.add_remote(place, hosts[place]);
            is_anybody_remote = true;
        }
    }
    timers_.begin();
    if (is_anybody_remote) progress_.await_hosts([this] { return fleet_.names_awaited(); });
    fleet_.start();
    loop_.run();
    fleet_.wait_for_ends();
    return verdict_.exit_status();
}

void Head::take(std::uint32_t, RankOutput&& output) {
    progress_.make_way();
    output_.add(output);
}

void Head::take(std::uint32_t, RankAborted&& abort) {
    Cause cause = make_cause(CauseKind::rank_aborted, abort.code, std::move(abort.text));
    cause.rank = abort.rank;
    cause.host = host_of(abort.rank);
    cause.pid = abort.pid;
    end_job(std::move(cause), SIGTERM);
}

void Head::take(std::uint32_t, HostFailed&& failure) {
    end_job(
        make_cause(CauseKind::host_failed, failure.exit_status, std::move(failure.text)), SIGTERM
    );
}

void Head::take(std::uint32_t host, HostSignalled&& signalled) {
    const std::string who = fmt::format("the {} on {} ", signalled.process, fleet_.name(host));
    // Who signals every process of a job means one signal, whoever hears of it first.
    if (urgency_ == 0) is_own_copy_due_ = true;
    end_job(make_cause(CauseKind::signalled, signalled.signal, who), signalled.signal);
}

void Head::take(std::uint32_t host, StdinTaken&& taken) {
    input_.take(host, taken);
}

void Head::take(std::uint32_t, RanksSuspended&&) {
    if (++suspended_count_ < fleet_.running_count()) return;
    suspended_count_ = 0;
    ::raise(SIGSTOP);
}

void Head::take(std::uint32_t host, RanksStarted&& started) {
    if (report_) report_->note_started(started, host);
    progress_.note_started(static_cast<std::uint32_t>(started.pids.size()));
    has_host_started_[host] = true;
    have_all_started_ = std::ranges::find(has_host_started_, false) == has_host_started_.end();
    if (!have_all_started_) return;
    verdict_.note_all_started();
    timers_.note_all_started();
    if (is_suspension_due_) suspend();
}

void Head::take(std::uint32_t, Notice&& notice) {
    say(notice.text);
}

void Head::take(std::uint32_t host, JobEnded&&) {
    on_host_gone(host);
}

void Head::take(std::uint32_t, RankAddress&& address) {
    for (const std::uint32_t asker : addresses_.put(address)) fleet_.send(asker, address);
}

void Head::take(std::uint32_t host, AddressWanted&& wanted) {
    const auto* known = addresses_.ask(host, wanted);
    if (known != nullptr) fleet_.send(host, RankAddress{wanted.rank, wanted.transport, *known});
}

void Head::take(std::uint32_t host, RankDeparted&& departed) {
    fleet_.send_all_but(host, departed);
}

void Head::take(std::uint32_t, RankConnectBack&& request) {
    if (request.to >= map_.size()) return;
    fleet_.send(map_.ranks[request.to].host_index, request);
}

void Head::on_host_gone(std::uint32_t host) {
    input_.close(host);
    if (fleet_.have_all_ended()) on_job_ended();
}

DescribeHost Head::question_for(std::uint32_t host, const HostFacts& facts) const {
    const std::vector<AllocatedHost>& hosts = context_.allocation.hosts;
    std::optional<std::uint32_t> rank_count = options_.rank_count();
    // How many of them come to one of several hosts is known later: as many as it has slots for.
    if (hosts.size() > 1) rank_count = hosts[host].slots;
    return {detail_needed(options_), cpus_to_borrow(options_, facts, rank_count)};
}

void Head::on_described() {
    Result<BuiltJob> job = build_job(
        options_, context_, fleet_.facts(context_.allocation.hosts.size())
    );
    if (job) return begin_job(std::move(*job));
    end_unstarted(make_cause(CauseKind::host_failed, launcher_fault_status, last_error_text()));
}

void Head::begin_job(BuiltJob job) {
    map_ = job.map;
    progress_.stop_awaiting();
    output_.set_tagger(make_stream_tagger(options_.output, map_));
    verdict_.set_rank_count(map_.size());
    if (report_) report_->note_job(map_);
    preview_job(options_, job, [this](std::string_view line) { say(line); });
    if (options_.is_dry_run) {
        fleet_.dismiss_all();
        return on_job_ended();
    }
    fleet_.assign(job.places);
    has_started_ = true;
    has_host_started_.assign(fleet_.size(), false);
    fleet_.start_job(job.start);
    stdin_kind_ = job.start.stdin_kind;
    stdin_rank_ = job.start.stdin_rank;
    if (!job.start.waits_for_others) begin_input();
    timers_.start();
    progress_.start(map_.size());
}

void Head::begin_input() {
    std::vector<std::uint32_t> hosts(fleet_.size());
    std::iota(hosts.begin(), hosts.end(), 0u);
    if (stdin_kind_ == StdinKind::forwarded) hosts = {map_.ranks[stdin_rank_].host_index};
    if (is_forwarded(stdin_kind_)) return input_.begin(hosts);
    // A rank has it now: a writer must see when that rank closes it.
    if (stdin_kind_ == StdinKind::descriptor) redirect_to_null(STDIN_FILENO);
}

void Head::take(std::uint32_t, JobPrepared&&) {
    if (++prepared_count_ < fleet_.size()) return;
    fleet_.send_all(BeginRanks{});
    begin_input();
}

void Head::on_unreachable(std::vector<std::string> problems) {
    // The last one is the verdict's, so that it is said once and stands in the report.
    for (std::size_t i = 0; i + 1 < problems.size(); ++i) say(problems[i]);
    end_unstarted(make_cause(
        CauseKind::host_failed, launcher_fault_status, problems.empty() ? "" : problems.back()
    ));
}

void Head::end_unstarted(Cause cause) {
    verdict_.set_cause(std::move(cause));
    fleet_.dismiss_all();
    on_job_ended();
}

std::string Head::hosts_not_started() const {
    std::string names;
    for (std::uint32_t host = 0; host < has_host_started_.size(); ++host) {
        if (has_host_started_[host]) continue;
        names += (names.empty() ? "" : ", ") + fleet_.name(host);
    }
    return names;
}

void Head::on_start_timeout() {
    if (!has_started_) return on_unreachable(fleet_.explain_silence(options_.start_timeout_ms));
    const std::string text = fmt::format(
        "not all ranks on {} run after the --start-timeout of {:g} s", hosts_not_started(),
        static_cast<double>(options_.start_timeout_ms) / 1000
    );
    end_job(make_cause(CauseKind::host_failed, launcher_fault_status, text), SIGTERM);
}

void Head::on_timeout() {
    end_job(
        make_cause(CauseKind::timed_out, static_cast<std::int64_t>(*options_.timeout_ms)), SIGTERM
    );
}

void Head::take(std::uint32_t host, RankEnded&& end) {
    if (report_) report_->note_ended(end);
    progress_.note_ended();
    if (verdict_.take_rank_end(end, fleet_.name(host))) end_ranks(SIGTERM);
}

void Head::take(std::uint32_t, RankMissed&& missed) {
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
    if (!verdict_.have_all_ended()) fleet_.send_all(Terminate{signal, options_.grace_ms});
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
            fleet_.send_all(SignalRanks{signal});
            break;
        default:
            end_by_signal(signal);
            break;
    }
}

void Head::suspend() {
    // Ranks that are started later would run on.
    is_suspension_due_ = !have_all_started_;
    if (have_all_started_) fleet_.send_all(SuspendRanks{});
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
        return end_unstarted(cause);
    }
    // Somebody is in a hurry: the daemons kill at once, and without us too.
    if (urgency_ >= 2) ::_exit(verdict_.exit_status());
    urgency_ = 2;
    fleet_.send_all(Terminate{SIGKILL, 0});
}

void Head::on_output_failed(int error) {
    if (error == EPIPE) return end_job(make_cause(CauseKind::reader_gone, 0), SIGTERM);
    const std::string text = fmt::format("cannot write the output: {}", std::strerror(error));
    end_job(make_cause(CauseKind::host_failed, launcher_fault_status, text), SIGTERM);
}

void Head::on_daemon_lost(std::uint32_t host, const std::string& reason) {
    if (has_ended_) return;
    end_job(
        make_cause(
            CauseKind::host_failed, launcher_fault_status,
            fmt::format("the daemon on {} was lost ({})", fleet_.name(host), reason)
        ),
        SIGTERM
    );
    on_host_gone(host);
}

void Head::on_job_ended() {
    if (std::exchange(has_ended_, true)) return;
    timers_.cancel();
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
    return rank >= map_.size() ? "?" : map_.hosts[map_.ranks[rank].host_index].name;
}

}  // namespace dlrt::launcher
