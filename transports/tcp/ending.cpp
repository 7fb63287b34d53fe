// SPDX-License-Identifier: Apache-2.0
/// How connections end: by a goodbye, by a loss, in a forked child.
///
/// Whoever goes says so behind all that it has sent, closes its sending half and waits until the
/// other systems have all of it: one that closes while others still send to it makes their answers
/// and its own last bytes disappear.
#include "runtime/base/check.hpp"
#include "runtime/base/clock.hpp"
#include "transports/tcp/tcp_endpoint.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::tcp {

void Tcp::take_goodbye(Connection& connection, const FrameHeader& header) {
    connection.in.skip(header);
    connection.has_said_goodbye = true;
    Peer& peer = peers_[connection.peer];
    if (header.first == 1) {
        peer.has_finished = true;
    } else {
        connection.in.fail_because("the other end has left");
    }
}

void Tcp::drop_failed() {
    std::ranges::sort(failed_);
    const auto [first, last] = std::ranges::unique(failed_);
    failed_.erase(first, last);
    for (Connection* const connection : std::exchange(failed_, {})) {
        // What the other end has said before is still there, perhaps a goodbye. And a payload of it
        // may be among the arrivals of this poll.
        const bool is_read = connection->is_read_empty || !connection->in.failure().empty();
        if (is_read && !connection->has_lent_payloads) {
            drop(*connection);
        } else {
            failed_.push_back(connection);
            keep_reading(*connection);
        }
    }
}

void Tcp::keep_reading(Connection& connection) {
    if (std::ranges::find(hot_, &connection) == hot_.end()) hot_.push_back(&connection);
}

void Tcp::drop(Connection& connection) {
    const Status lost{Errc::peer_lost, 0};
    const std::uint32_t number = connection.peer;
    for (const OperationId id : connection.out.abandon()) complete(id, lost);
    std::erase(hot_, &connection);
    std::erase(failed_, &connection);
    Peer& peer = peers_[number];
    if (peer.out == &connection) peer.out = nullptr;
    std::erase(peer.lanes, &connection);
    if (!peer.has_finished) {
        lose(
            number,
            fmt::format("the connection {} has ended: {}", connection.ends, connection.failure()),
            connection.has_said_goodbye ? 0 : loss_delay_ns_
        );
        fail_siblings(connection);
    }
    std::erase_if(answers_, [&](const Answer& answer) {
        return answer.connection == &connection ||
               (!peer.has_finished && answer.connection->peer == number);
    });
    is_changing_.store(true, std::memory_order_relaxed);
    connections_.erase(connection.socket.get());
    is_changing_.store(false, std::memory_order_relaxed);
    const bool is_last = std::ranges::none_of(connections_, [number](const auto& entry) {
        return entry.second->peer == number;
    });
    if (!is_last) return;
    // Until now something could still be placed into their targets.
    std::erase_if(gets_, [&](const auto& entry) {
        if (entry.second.peer != number) return false;
        complete(entry.second.id, lost);
        return true;
    });
}

/// A peer is lost with any of its connections: what comes over the others is read to the end, and
/// nothing more is sent.
void Tcp::fail_siblings(const Connection& connection) {
    for (const auto& [socket, other] : connections_) {
        if (other->peer != connection.peer || other.get() == &connection) continue;
        other->out.fail_because("another connection to the same process has ended");
        other->is_read_empty = false;
        failed_.push_back(other.get());
        keep_reading(*other);
    }
}

void Tcp::set_silence_timer(std::uint32_t period_s) {
    itimerspec time{};
    time.it_value.tv_sec = time.it_interval.tv_sec = static_cast<time_t>(period_s);
    ::timerfd_settime(silence_timer_.get(), 0, &time, nullptr);
    is_silence_timed_ = period_s != 0;
}

void Tcp::look_for_silence() {
    // A question that is on its way at the very moment of one look is answered before the next.
    constexpr std::uint32_t looks_until_dead = 2;
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t size = ::read(silence_timer_.get(), &times, sizeof times);
    bool is_all_quiet = true;
    for (const auto& [socket, connection] : connections_) {
        if (!connection->failure().empty()) continue;
        const bool is_quiet = connection->out.is_idle() && is_all_confirmed(socket);
        is_all_quiet = is_all_quiet && is_quiet;
        if (is_quiet || !is_unanswered(socket)) {
            connection->silent_looks = 0;
        } else if (++connection->silent_looks >= looks_until_dead) {
            connection->in.fail_because("the other host doesn't answer any more");
            failed_.push_back(connection.get());
        }
    }
    if (is_all_quiet) set_silence_timer(0);
}

std::string Tcp::how_to_choose() const {
    std::string own;
    for (const SocketAddress& address : own_addresses_) {
        own += (own.empty() ? "" : ", ") + address.text();
    }
    return fmt::format(
        "; this process is at {}. dlrun --iface, or DLRT_TCP_INTERFACES, chooses the interfaces, "
        "which must lead to each other",
        own.empty() ? "no address that others could reach" : own
    );
}

void Tcp::lose(std::uint32_t peer, std::string reason, std::uint64_t delay_ns) {
    if (std::exchange(peers_[peer].is_lost, true)) return;
    unsettled_losses_.push_back({{PeerIndex{peer}, std::move(reason)}, monotonic_ns() + delay_ns});
    set_loss_timer();
}

/// For the first that is due later; what is due already needs none.
void Tcp::set_loss_timer() {
    const std::uint64_t now_ns = monotonic_ns();
    std::uint64_t first_ns = 0;
    for (const HeldLoss& held : unsettled_losses_) {
        if (held.due_ns <= now_ns) continue;
        first_ns = first_ns == 0 ? held.due_ns : std::min(first_ns, held.due_ns);
    }
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    itimerspec time{};
    time.it_value.tv_sec = static_cast<time_t>(first_ns / ns_per_s);
    time.it_value.tv_nsec = static_cast<long>(first_ns % ns_per_s);
    ::timerfd_settime(loss_timer_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
}

bool Tcp::has_connection_to(PeerIndex peer) const {
    return std::ranges::any_of(connections_, [peer](const auto& entry) {
        return entry.second->peer == static_cast<std::uint32_t>(peer);
    });
}

void Tcp::settle_losses() {
    const std::uint64_t now_ns = monotonic_ns();
    std::erase_if(unsettled_losses_, [&](HeldLoss& held) {
        // What came over another connection of that peer comes first.
        const bool is_settled = now_ns >= held.due_ns && !has_connection_to(held.loss.peer);
        if (is_settled) losses_.push_back(std::move(held.loss));
        return is_settled;
    });
    // The others' connections are looked at in the next poll.
    for (const HeldLoss& held : unsettled_losses_) {
        for (const auto& [socket, connection] : connections_) {
            const bool is_of_it = connection->peer == static_cast<std::uint32_t>(held.loss.peer);
            if (is_of_it) keep_reading(*connection);
        }
    }
}

void Tcp::begin_watch_period(std::uint64_t period_ns) {
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    watch_period_ns_ = period_ns;
    itimerspec time{};
    time.it_value.tv_sec = static_cast<time_t>(period_ns / ns_per_s);
    time.it_value.tv_nsec = static_cast<long>(period_ns % ns_per_s);
    ::timerfd_settime(watch_timer_.get(), 0, &time, nullptr);
}

bool Tcp::is_time_to_watch() {
    // Whom somebody waits for in vain is lost within 30 s, an attempt to connect included.
    constexpr std::uint64_t first_ns = 1'000'000'000;
    constexpr std::uint64_t longest_ns = 4 * first_ns;
    if (!watches_awaited_) return false;
    if (watch_period_ns_ == 0) begin_watch_period(first_ns);
    if (!std::exchange(is_time_to_watch_, false)) return false;
    begin_watch_period(std::min(2 * watch_period_ns_, longest_ns));
    return true;
}

void Tcp::watch(PeerIndex peer) {
    // Its end ends the connection. It may take its time: that of its system answers for it.
    static_cast<void>(connection_to(peer));
}

std::optional<Loss> Tcp::take_loss() {
    if (losses_.empty()) return std::nullopt;
    Loss loss = std::move(losses_.front());
    losses_.pop_front();
    return loss;
}

/// Whether nothing is left to do.
bool Tcp::finish_sending(Connection& connection) {
    if (!connection.failure().empty()) return true;
    connection.out.flush(gone_);
    gone_.clear();
    if (!connection.out.failure().empty()) return true;
    if (connection.out.is_idle() && !connection.is_shut) {
        ::shutdown(connection.socket.get(), SHUT_WR);
        connection.is_shut = true;
    }
    if (!connection.in.drain()) return true;
    return connection.is_shut && is_all_confirmed(connection.socket.get());
}

void Tcp::part(Parting parting, std::uint32_t timeout_ms) {
    constexpr int patience_ms_max = 16;
    const std::uint64_t deadline_ns = monotonic_ns() + std::uint64_t{timeout_ms} * 1'000'000;
    std::vector<Connection*> left;
    for (const auto& [socket, connection] : connections_) {
        if (!connection->failure().empty()) continue;
        const std::uint64_t is_finished = parting == Parting::finished ? 1 : 0;
        connection->out.send({0, FrameKind::goodbye, is_finished, 0}, {});
        left.push_back(connection.get());
    }
    std::vector<pollfd> entries;
    for (int patience_ms = 1;; patience_ms = std::min(2 * patience_ms, patience_ms_max)) {
        std::erase_if(left, [this](Connection* connection) { return finish_sending(*connection); });
        if (left.empty() || monotonic_ns() >= deadline_ns) return;
        entries.clear();
        for (const Connection* connection : left) {
            const bool wants_room = !connection->out.is_idle();
            const int events = wants_room ? POLLIN | POLLOUT : POLLIN;
            entries.push_back({connection->socket.get(), static_cast<short>(events), 0});
        }
        // Nothing tells when the other system has taken the last bytes.
        ::poll(entries.data(), entries.size(), patience_ms);
    }
}

void Tcp::abandon() noexcept {
    // Another thread was at it when this process was made.
    if (is_changing_.load(std::memory_order_relaxed)) return;
    events_.reset();
    silence_timer_.reset();
    loss_timer_.reset();
    watch_timer_.reset();
    door_.close_all();
    for (auto& [socket, connection] : connections_) connection->socket.reset();
}

}  // namespace dlrt::tcp
