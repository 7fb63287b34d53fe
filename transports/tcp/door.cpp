// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/door.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::tcp {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
/// Who connects and says nothing takes one of these places until the time is over.
constexpr std::size_t strangers_max = 256;
constexpr std::uint32_t tries_max = 8;
/// A way that leads there has mostly been found by then.
constexpr std::uint64_t asks_after_ns = 1000 * ns_per_ms;

constexpr const char* no_address = "it has no address that other hosts could reach";

}  // namespace

Door::Door(const Identity& identity, Listener listener, std::uint32_t timeout_ms, bool can_ask)
    : identity_(identity),
      listener_(std::move(listener)),
      timeout_ns_(timeout_ms * ns_per_ms),
      can_ask_(can_ask) {
}

Status Door::start() {
    events_.reset(::epoll_create1(EPOLL_CLOEXEC));
    timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!events_.is_open() || !timer_.is_open()) {
        return fail_errno(errno, "cannot make the descriptors for TCP connections");
    }
    for (const int descriptor : {listener_.socket.get(), timer_.get()}) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = descriptor;
        if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
            return fail_errno(errno, "cannot watch the TCP port {}", listener_.port);
        }
    }
    return {};
}

void Door::open(std::uint32_t peer, const std::vector<SocketAddress>& addresses) {
    Call& call = calls_[peer];
    if (can_ask_) call.asks_at_ns = monotonic_ns() + asks_after_ns;
    attempt_all(peer, call, addresses);
}

void Door::connect_back(std::uint32_t peer, const std::vector<SocketAddress>& addresses) {
    const auto [entry, is_new] = calls_.try_emplace(peer);
    Call& call = entry->second;
    call.is_asked_for = true;
    if (is_new) {
        attempt_all(peer, call, addresses);
    } else if (call.attempts == 0) {
        ended_calls_.push_back(peer);
        set_timer();
    }
}

void Door::note_no_connect_back(std::uint32_t peer, std::string reason) {
    const auto call = calls_.find(peer);
    if (call == calls_.end()) return;
    call->second.their_reason = std::move(reason);
    if (call->second.attempts > 0) return;
    ended_calls_.push_back(peer);
    set_timer();
}

void Door::attempt_all(
    std::uint32_t peer, Call& call, const std::vector<SocketAddress>& addresses
) {
    call.attempts = addresses.size();
    for (const SocketAddress& address : addresses) {
        add({.opening = Opening::to(identity_, peer, address), .target = address});
    }
    if (!addresses.empty()) return;
    call.reasons = no_address;
    ended_calls_.push_back(peer);
    set_timer();
}

void Door::open_lane(std::uint32_t peer, const SocketAddress& address) {
    add({.opening = Opening::to(identity_, peer, address), .target = address, .is_lane = true});
}

void Door::add(Attempt attempt) {
    const int socket = attempt.opening.socket();
    attempt.ends_at_ns = monotonic_ns() + timeout_ns_;
    attempt.number = next_number_++;
    // A connection that failed at once has none; advance() tells of it.
    const int key = socket >= 0 ? socket : next_failed_--;
    if (socket >= 0) watch(attempt.opening, true);
    attempts_.insert_or_assign(key, std::move(attempt));
    set_timer();
}

void Door::watch(const Opening& opening, bool is_new) {
    epoll_event event{};
    event.events = opening.wants_to_write() ? EPOLLOUT : EPOLLIN;
    event.data.fd = opening.socket();
    ::epoll_ctl(events_.get(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, opening.socket(), &event);
}

void Door::set_timer() {
    std::uint64_t first_ns = ended_calls_.empty() ? 0 : 1;
    const auto note = [&first_ns](std::uint64_t at_ns) {
        if (at_ns != 0) first_ns = first_ns == 0 ? at_ns : std::min(first_ns, at_ns);
    };
    // Those without a socket are due at once.
    for (const auto& [socket, attempt] : attempts_) note(socket < 0 ? 1 : attempt.ends_at_ns);
    for (const auto& [peer, call] : calls_) note(call.asks_at_ns);
    itimerspec time{};
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    time.it_value.tv_sec = static_cast<time_t>(first_ns / ns_per_s);
    time.it_value.tv_nsec = static_cast<long>(first_ns % ns_per_s);
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
}

Door::Outcome Door::advance() {
    Outcome outcome;
    std::array<epoll_event, 32> events;
    const int count = ::epoll_wait(
        events_.get(), events.data(), static_cast<int>(events.size()), 0
    );
    for (int i = 0; i < count; ++i) {
        const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
        if (descriptor == listener_.socket.get()) {
            accept_all();
        } else if (descriptor == timer_.get()) {
            end_late_ones(outcome);
            look_at_calls(outcome);
        } else {
            advance_one(descriptor, outcome);
        }
    }
    return outcome;
}

void Door::accept_all() {
    for (;;) {
        Fd socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)
        );
        if (!socket.is_open()) return;
        if (stranger_count_ == strangers_max) drop_oldest_stranger();
        ++stranger_count_;
        add({.opening = Opening::from(identity_, std::move(socket))});
    }
}

/// Who belongs to the job comes again.
void Door::drop_oldest_stranger() {
    auto oldest = attempts_.end();
    for (auto one = attempts_.begin(); one != attempts_.end(); ++one) {
        if (one->second.opening.is_own()) continue;
        if (oldest == attempts_.end() || one->second.number < oldest->second.number) oldest = one;
    }
    if (oldest == attempts_.end()) return;
    attempts_.erase(oldest);
    --stranger_count_;
}

void Door::advance_one(int socket, Outcome& outcome) {
    const auto found = attempts_.find(socket);
    // An event of one that has gone meanwhile.
    if (found == attempts_.end()) return;
    Attempt& attempt = found->second;
    Opening& opening = attempt.opening;
    const bool wanted_to_write = opening.wants_to_write();
    const Opening::State state = opening.advance();
    if (state == Opening::State::waiting) {
        if (wanted_to_write != opening.wants_to_write()) watch(opening, false);
        if (opening.is_patient() && attempt.ends_at_ns != 0) {
            attempt.ends_at_ns = 0;
            set_timer();
        }
        return;
    }
    Attempt ended = std::move(attempt);
    attempts_.erase(found);
    if (state == Opening::State::failed) {
        conclude(ended, outcome);
    } else {
        Opening& over = ended.opening;
        if (!over.is_own()) --stranger_count_;
        const std::uint32_t peer = over.peer();
        Fd connected = over.take_socket();
        ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, connected.get(), nullptr);
        outcome.opened.push_back({peer, std::move(connected), ended.is_lane});
        if (!ended.is_lane) drop_other_attempts(peer);
    }
    set_timer();
}

bool Door::try_again(const Attempt& attempt) {
    const Opening& opening = attempt.opening;
    if (!opening.was_turned_away() || attempt.tries >= tries_max) return false;
    add(
        {.opening = Opening::to(identity_, opening.peer(), attempt.target),
         .target = attempt.target,
         .tries = attempt.tries + 1}
    );
    return true;
}

void Door::conclude(const Attempt& attempt, Outcome& outcome) {
    const Opening& opening = attempt.opening;
    if (!opening.is_own()) {
        --stranger_count_;
        log(LogLevel::debug, "tcp", "a connection to port {} is dropped: {}", listener_.port,
            opening.reason());
        return;
    }
    if (attempt.is_lane) {
        log(LogLevel::debug, "tcp", "no further connection to process {} at {}: {}", opening.peer(),
            opening.target(), opening.reason());
        return;
    }
    const auto call = calls_.find(opening.peer());
    if (call == calls_.end() || try_again(attempt)) return;
    call->second.reasons += fmt::format(
        "{}{} ({})", call->second.reasons.empty() ? "" : ", ", opening.target(), opening.reason()
    );
    if (--call->second.attempts == 0) end_call(opening.peer(), outcome);
}

void Door::end_call(std::uint32_t peer, Outcome& outcome) {
    Call& call = calls_.at(peer);
    const std::string reasons = call.reasons == no_address
                                    ? call.reasons
                                    : "it cannot be reached at " + call.reasons;
    if (std::exchange(call.is_asked_for, false)) {
        outcome.refused.push_back({peer, reasons});
        // Nothing waits here for this peer.
        if (call.asks_at_ns == 0 && !call.has_asked) {
            calls_.erase(peer);
            return;
        }
    }
    if (can_ask_ && call.their_reason.empty()) return ask(peer, call, outcome);
    const std::string theirs = call.their_reason.empty()
                                   ? ""
                                   : ", and it cannot connect to here: " + call.their_reason;
    outcome.closed.push_back({peer, reasons + theirs});
    calls_.erase(peer);
}

void Door::ask(std::uint32_t peer, Call& call, Outcome& outcome) {
    call.asks_at_ns = 0;
    if (!std::exchange(call.has_asked, true)) outcome.to_ask.push_back(peer);
}

void Door::look_at_calls(Outcome& outcome) {
    for (const std::uint32_t peer : std::exchange(ended_calls_, {})) {
        if (calls_.contains(peer) && calls_.at(peer).attempts == 0) end_call(peer, outcome);
    }
    const std::uint64_t now_ns = monotonic_ns();
    for (auto& [peer, call] : calls_) {
        if (call.asks_at_ns != 0 && now_ns >= call.asks_at_ns) ask(peer, call, outcome);
    }
    set_timer();
}

void Door::end_late_ones(Outcome& outcome) {
    const std::uint64_t now_ns = monotonic_ns();
    for (auto next = attempts_.begin(); next != attempts_.end();) {
        const auto attempt = next++;
        const bool has_failed = attempt->first < 0;
        const std::uint64_t ends_at_ns = attempt->second.ends_at_ns;
        if (!has_failed && (ends_at_ns == 0 || now_ns < ends_at_ns)) continue;
        Attempt ended = std::move(attempt->second);
        attempts_.erase(attempt);
        if (!has_failed) ended.opening.give_up(timeout_ns_ / ns_per_ms);
        conclude(ended, outcome);
    }
    set_timer();
}

/// The peer is reached, by whichever way.
void Door::drop_other_attempts(std::uint32_t peer) {
    calls_.erase(peer);
    std::erase_if(attempts_, [peer](const auto& entry) {
        const Attempt& attempt = entry.second;
        return attempt.opening.is_own() && attempt.opening.peer() == peer && !attempt.is_lane;
    });
}

void Door::close_all() noexcept {
    listener_.socket.reset();
    events_.reset();
    timer_.reset();
    for (auto& [socket, attempt] : attempts_) {
        if (socket >= 0) ::close(socket);
    }
}

}  // namespace dlrt::tcp
