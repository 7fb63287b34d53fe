// SPDX-License-Identifier: Apache-2.0
/// Fleet's side of a tree of daemons: gives each its place, sends through the head's own children,
/// and finds out who is to blame where a branch is lost.
#include "launcher/fleet.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/connect/sodium.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// Beyond it the head's load is shared.
constexpr std::size_t hosts_by_pipe_max = 64;
constexpr std::chrono::seconds blame_time{1};

}  // namespace

void Fleet::form_tree() {
    std::vector<Member*> remote;
    for (const auto& member : members_) {
        if (member->local_pid == 0) remote.push_back(member.get());
    }
    const bool is_large = rules_.tree.way == ControlWay::by_size &&
                          remote.size() > hosts_by_pipe_max;
    if (!is_large && rules_.tree.way != ControlWay::tree) return;
    if (!tcp::load_sodium().ok()) {
        problems_.emplace_back(last_error_text());
        return loop_.post([this] { report_problems(); });
    }
    tree_secret_ = tcp::new_nonce();
    shape_ = TreeShape(static_cast<std::uint32_t>(remote.size()), rules_.tree.width);
    by_number_ = std::move(remote);
    for (std::uint32_t number = 0; number < by_number_.size(); ++number) {
        Member& member = *by_number_[number];
        member.number = number;
        // One without children that the head itself talks with is none but a daemon.
        member.is_relay = is_below_another(member) || !shape_.children(number).empty();
    }
}

JoinTree Fleet::place_of(const Member& member) const {
    JoinTree place;
    place.member = member.number;
    place.member_count = shape_.member_count();
    place.width = shape_.width();
    place.job_id = rules_.job_id;
    place.host_name = member.name;
    place.secret.assign(tree_secret_.begin(), tree_secret_.end());
    place.heartbeat_ms = rules_.heartbeat_ms;
    place.connect_limit_ms = rules_.tree.connect_limit_ms;
    place.port_first = rules_.tree.port_first;
    place.port_last = rules_.tree.port_last;
    if (const auto parent = shape_.parent(member.number)) {
        place.parent_name = by_number_[*parent]->name;
        place.parent_addresses = by_number_[*parent]->addresses;
    }
    return place;
}

void Fleet::join(Member& member) {
    member.state = State::joining;
    const auto parent = shape_.parent(member.number);
    if (parent && by_number_[*parent]->addresses.empty()) return;
    member.state = State::asked;
    member.channel->send(place_of(member));
    if (!parent) watch(member);
}

bool Fleet::take_in_tree(Member& member, Frame& frame) {
    if (auto* relayed = std::get_if<Relayed>(&frame)) {
        take_relayed(std::move(*relayed));
    } else if (auto* ready = std::get_if<RelayReady>(&frame)) {
        member.addresses = std::move(ready->addresses);
        for (const std::uint32_t child : shape_.children(member.number)) {
            if (by_number_[child]->state == State::joining) join(*by_number_[child]);
        }
    } else if (const auto* daemon = std::get_if<DaemonLost>(&frame)) {
        if (member.state != State::ended) lose({&member}, Loss::daemon, daemon->reason);
    } else if (const auto* link = std::get_if<LinkLost>(&frame)) {
        if (link->member < by_number_.size()) lose_branch(*by_number_[link->member], link->reason);
    } else if (const auto* parent = std::get_if<ParentLost>(&frame)) {
        on_parent_lost(member, parent->reason);
    } else if (std::holds_alternative<RelayEnded>(frame)) {
        member.has_relay_ended = true;
        if (member.life != nullptr) member.life->stop();
    } else {
        return false;
    }
    return true;
}

void Fleet::take_relayed(Relayed&& relayed) {
    if (relayed.member >= by_number_.size()) return;
    Result<Frame> frame = decode_whole_frame(relayed.frame);
    if (frame) take(*by_number_[relayed.member], std::move(*frame));
}

void Fleet::on_parent_lost(Member& member, const std::string& reason) {
    member.has_lost_parent = true;
    Member& parent = *by_number_[*shape_.parent(member.number)];
    // Most often the parent's own end is about to be heard of, from somebody who knows more.
    blame_.start(blame_time, [this, &parent, &member, reason] {
        const bool is_known = parent.has_relay_ended || parent.has_lost_parent;
        if (is_known || member.state == State::ended) return;
        lose_branch(parent, fmt::format("{} says: {}", member.name, reason));
    });
}

void Fleet::lose_branch(Member& member, const std::string& reason) {
    if (member.life != nullptr) member.life->stop();
    std::vector<Member*> lost;
    // Whoever is talked about comes first, also if its own daemon has ended before.
    if (member.state != State::ended) lost.push_back(&member);
    for (Member* other : by_number_) {
        if (other->state != State::ended && shape_.is_below(other->number, member.number)) {
            lost.push_back(other);
        }
    }
    if (lost.empty()) return;
    if (lost.front() == &member) return lose(std::move(lost), Loss::way, reason);
    lose(
        std::move(lost), Loss::way,
        fmt::format("that on {}, through which it is reached: {}", member.name, reason)
    );
}

void Fleet::assign_in_tree() {
    has_job_ = true;
    if (by_number_.empty()) return;
    AssignHosts assignment;
    assignment.host_of_member.assign(by_number_.size(), no_number);
    for (std::uint32_t host = 0; host < members_.size(); ++host) {
        const std::uint32_t number = members_[host]->number;
        if (number != no_number) assignment.host_of_member[number] = host;
    }
    for (std::uint32_t top = 0; top < shape_.top_count(); ++top) {
        if (by_number_[top]->is_relay) by_number_[top]->channel->send(assignment);
    }
}

void Fleet::send_to(Member& member, const Frame& frame) {
    if (!is_below_another(member)) return member.channel->send(frame);
    Member& top = *by_number_[shape_.top_of(member.number)];
    if (top.channel != nullptr) top.channel->send(Relayed{member.number, encode_frame(frame)});
}

void Fleet::send_below(const Frame& frame, std::uint32_t except) {
    // Daemons that aren't in it yet don't wait for anything but a job.
    if (by_number_.empty() || !has_job_) return;
    const ToAll to_all{except, encode_frame(frame)};
    const std::vector<std::byte> bytes = encode_frame(to_all);
    for (std::uint32_t top = 0; top < shape_.top_count(); ++top) {
        Member& member = *by_number_[top];
        if (member.is_relay && member.channel != nullptr) member.channel->send_encoded(bytes);
    }
}

}  // namespace dlrt::launcher
