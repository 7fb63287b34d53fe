// SPDX-License-Identifier: Apache-2.0
#include "launcher/fleet.hpp"

#include "launcher/heartbeat.hpp"
#include "launcher/lost_daemon.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// Who has mistyped a hostfile wants to see all of it.
constexpr std::chrono::milliseconds patience{2000};
constexpr int goodbye_ms = 2000;
constexpr int last_words_ms = 1000;

HostMention mention_of(const AllocatedHost& host) {
    HostMention mention;
    mention.name = host.name;
    mention.user = host.user;
    mention.port = host.port;
    mention.prefix = host.prefix;
    return mention;
}

}  // namespace

Fleet::Fleet(EventLoop& loop, Rules rules, Handlers handlers)
    : loop_(loop),
      rules_(std::move(rules)),
      handlers_(std::move(handlers)),
      patience_(loop),
      blame_(loop) {
}

Fleet::Member& Fleet::add(std::uint32_t place, std::string name) {
    Member& member = *members_.emplace_back(std::make_unique<Member>());
    member.name = std::move(name);
    member.host = place;
    return member;
}

void Fleet::add_local(std::uint32_t place, std::string name, LocalDaemon daemon) {
    Member& member = add(place, std::move(name));
    member.local_pid = daemon.pid;
    connect(member, std::move(daemon.stream));
}

void Fleet::add_remote(std::uint32_t place, const AllocatedHost& host) {
    add(place, host.name).mention = mention_of(host);
}

void Fleet::start() {
    // A dry run may have no need to ask anybody.
    if (members_.empty()) loop_.post([this] { look_whether_described(); });
    form_tree();
    for (const auto& each : members_) {
        if (each->local_pid != 0) continue;
        Member& member = *each;
        member.remote = std::make_unique<RemoteDaemon>(
            loop_, rules_.way, member.mention,
            member.is_relay ? DaemonRole::in_tree : DaemonRole::alone,
            RemoteDaemon::Handlers{
                [this, &member](Fd stream) {
                    if (member.state != State::starting) return;
                    connect(member, std::move(stream));
                    start_more();
                },
                [this, &member](std::string problem) {
                    on_problem(member, std::move(problem));
                    start_more();
                },
                [this, &member](const std::string& text) {
                    handlers_.on_remark(fmt::format(
                        "warning: host {}: its login writes text, which is dropped: '{}'",
                        member.name, text
                    ));
                }}
        );
    }
    start_more();
}

void Fleet::start_more() {
    auto under_way = static_cast<std::uint32_t>(
        std::ranges::count(members_, State::starting, [](const auto& m) { return m->state; })
    );
    for (const auto& member : members_) {
        if (under_way >= rules_.width || !problems_.empty()) return;
        if (member->state != State::waiting) continue;
        member->state = State::starting;
        ++under_way;
        loop_.post([&started = *member] {
            if (started.state == State::starting) started.remote->start();
        });
    }
}

void Fleet::connect(Member& member, Fd stream) {
    member.channel = std::make_unique<Channel>(
        loop_, Stream{std::move(stream), Fd()},
        Channel::Handlers{
            [this, &member](Frame&& frame) {
                if (member.life != nullptr) member.life->heard();
                take(member, std::move(frame));
            },
            [this, &member](std::string reason) { on_closed(member, std::move(reason)); }}
    );
    if (member.is_relay) return join(member);
    member.state = State::asked;
    watch(member);
}

void Fleet::watch(Member& member) {
    member.life = std::make_unique<Liveness>(
        loop_, rules_.heartbeat_ms,
        Liveness::Handlers{
            [&member] { member.channel->send(Heartbeat{}); },
            [this, &member] {
                member.is_silent = true;
                on_closed(member, silence_text(rules_.heartbeat_ms));
            }}
    );
}

void Fleet::take(Member& member, Frame&& frame) {
    if (!by_number_.empty() && take_in_tree(member, frame)) return;
    if (member.state == State::ended) return;
    if (auto* facts = std::get_if<HostFacts>(&frame)) return take_facts(member, std::move(*facts));
    if (std::holds_alternative<JobEnded>(frame)) {
        member.state = State::ended;
        if (!member.is_relay) member.life->stop();
    } else if (auto* failure = std::get_if<HostFailed>(&frame);
               failure != nullptr && member.state == State::asked) {
        return on_problem(member, std::move(failure->text));
    }
    handlers_.on_frame(member.host, std::move(frame));
}

void Fleet::take_facts(Member& member, HostFacts&& facts) {
    if (member.state != State::asked) return;
    topologies_.pass(facts);
    const DescribeHost question = handlers_.question(member.host, facts);
    const bool borrows = question.wanted_cpus != 0 &&
                         !std::exchange(member.has_asked_for_cpus, true);
    if (borrows || facts.topology.detail < question.detail) return send_to(member, question);
    member.facts = std::move(facts);
    member.state = State::described;
    look_whether_described();
}

void Fleet::look_whether_described() {
    const bool are_all_settled = std::ranges::all_of(members_, [](const auto& member) {
        return member->state == State::described || member->state == State::ended;
    });
    if (!are_all_settled) return;
    if (problems_.empty()) return handlers_.on_described();
    report_problems();
}

void Fleet::on_problem(Member& member, std::string problem) {
    if (member.state == State::ended) return;
    end(member);
    problems_.push_back(std::move(problem));
    if (problems_.size() == 1) patience_.start(patience, [this] { report_problems(); });
    // Who hasn't been tried yet isn't needed any more.
    for (const auto& other : members_) {
        if (other->state == State::waiting) other->state = State::ended;
    }
    look_whether_described();
}

void Fleet::report_problems() {
    if (std::exchange(has_reported_, true)) return;
    patience_.cancel();
    handlers_.on_unreachable(problems_);
}

void Fleet::on_closed(Member& member, std::string reason) {
    if (member.life != nullptr) member.life->stop();
    // Blamed is whoever comes out as the reason.
    if (member.has_relay_ended || member.has_lost_parent) return;
    if (member.is_relay) return lose_branch(member, reason);
    if (member.state != State::ended) lose({&member}, Loss::way, std::move(reason));
}

void Fleet::lose(std::vector<Member*> lost, Loss loss, std::string reason) {
    const bool was_in_job = std::ranges::any_of(lost, [](const Member* member) {
        return member->state == State::in_job;
    });
    for (Member* member : lost) {
        if (loss == Loss::way) end(*member);
        member->state = State::ended;
    }
    if (was_in_job) handlers_.on_losing();
    // What the others have been told leaves before this one is cleaned up after.
    loop_.post([this, lost = std::move(lost), was_in_job, loss,
                reason = std::move(reason)]() mutable {
        Member& member = *lost.front();
        if (member.local_pid != 0) {
            const LostDaemon daemon = end_processes_of_lost_daemon(member.local_pid, rules_.job_id);
            if (!daemon.how_it_ended.empty()) reason = daemon.how_it_ended;
            member.local_pid = 0;
        } else if (loss == Loss::way) {
            // Its command ends with it, unless the way there is blocked.
            const std::string said = member.remote->end_lost(member.is_silent ? 0 : last_words_ms);
            if (!said.empty()) reason = said;
        }
        for (const Member* gone : lost) {
            if (was_in_job) handlers_.on_lost(gone->host, reason);
        }
        if (was_in_job) return;
        problems_.push_back(fmt::format("the daemon on {} was lost ({})", member.name, reason));
        report_problems();
    });
}

void Fleet::end(Member& member) {
    member.state = State::ended;
    if (member.life != nullptr) member.life->stop();
    if (member.channel != nullptr) member.channel->close();
}

std::vector<std::optional<HostFacts>> Fleet::facts(std::size_t host_count) const {
    std::vector<std::optional<HostFacts>> all(host_count);
    for (const auto& member : members_) all[member->host] = member->facts;
    return all;
}

void Fleet::assign(std::span<const std::uint32_t> places) {
    std::vector<std::unique_ptr<Member>> unused = std::exchange(members_, {});
    for (const std::uint32_t place : places) {
        const auto found = std::ranges::find_if(unused, [&](const auto& member) {
            return member != nullptr && member->host == place;
        });
        (*found)->host = static_cast<std::uint32_t>(members_.size());
        (*found)->state = State::in_job;
        members_.push_back(std::move(*found));
    }
    for (auto& member : unused) {
        if (member == nullptr) continue;
        if (member->is_relay) {
            member->state = State::ended;
        } else {
            end(*member);
        }
        dismissed_.push_back(std::move(member));
    }
}

void Fleet::send(std::uint32_t host, const Frame& frame) {
    Member& member = *members_[host];
    if (member.state == State::in_job) send_to(member, frame);
}

void Fleet::send_all(const Frame& frame) {
    send_all_but(no_number, frame);
}

void Fleet::send_all_but(std::uint32_t host, const Frame& frame) {
    for (std::uint32_t other = 0; other < members_.size(); ++other) {
        if (other != host && !members_[other]->is_relay) send(other, frame);
    }
    send_below(frame, host == no_number ? no_number : members_[host]->number);
}

void Fleet::start_job(StartJob job) {
    assign_in_tree();
    for (std::uint32_t host = 0; host < members_.size(); ++host) {
        if (members_[host]->is_relay) continue;
        job.host_index = host;
        send(host, job);
    }
    send_below(job, no_number);
}

std::uint32_t Fleet::running_count() const {
    return static_cast<std::uint32_t>(
        std::ranges::count(members_, State::in_job, [](const auto& m) { return m->state; })
    );
}

bool Fleet::have_all_ended() const {
    return std::ranges::all_of(members_, [](const auto& member) {
        return member->state == State::ended;
    });
}

std::vector<std::string> Fleet::names_awaited() const {
    std::vector<std::string> names;
    for (const auto& member : members_) {
        if (member->state <= State::asked) names.push_back(member->name);
    }
    return names;
}

std::vector<std::string> Fleet::explain_silence(std::uint64_t waited_ms) const {
    std::vector<std::string> lines = problems_;
    for (const auto& member : members_) {
        const std::string line = explain_silence_of(*member, waited_ms);
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

std::string Fleet::explain_silence_of(const Member& member, std::uint64_t waited_ms) const {
    if (member.state == State::starting) return member.remote->explain_silence(waited_ms);
    if (member.state == State::joining) {
        return fmt::format(
            "the daemon on {} waits for that on {}, through which it is to be reached", member.name,
            by_number_[*shape_.parent(member.number)]->name
        );
    }
    if (member.state != State::asked) return "";
    return fmt::format(
        "the daemon on {} has not told within the --start-timeout of {:g} s what its host offers",
        member.name, static_cast<double>(waited_ms) / 1000
    );
}

void Fleet::dismiss_all() {
    patience_.cancel();
    has_reported_ = true;
    blame_.cancel();
    for (const auto* list : {&members_, &dismissed_}) {
        for (const auto& member : *list) end(*member);
    }
}

void Fleet::wait_for_ends() {
    const auto end_at = std::chrono::steady_clock::now() + std::chrono::milliseconds(goodbye_ms);
    const auto left_ms = [&] {
        const auto left = end_at - std::chrono::steady_clock::now();
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
        return static_cast<int>(std::max<std::int64_t>(ms, 0));
    };
    for (const auto* list : {&members_, &dismissed_}) {
        for (const auto& member : *list) {
            if (member->remote != nullptr) member->remote->finish(left_ms());
            if (member->local_pid != 0) wait_for_local_daemon(member->local_pid);
        }
    }
}

}  // namespace dlrt::launcher
