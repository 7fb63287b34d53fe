// SPDX-License-Identifier: Apache-2.0
/// Sending and receiving; how it ends stands in ending.cpp.
#include "transports/tcp/tcp.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/connect/sodium.hpp"
#include "transports/tcp/lanes.hpp"
#include "transports/tcp/tcp_endpoint.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::tcp {
namespace {

/// Connections that something came over lately are read without asking the system which.
constexpr std::size_t hot_max = 4;
constexpr std::uint32_t polls_until_cold = 4096;
/// How often the others are looked at meanwhile, and all where none is read like that.
constexpr std::uint64_t ns_between_events = 5000;
constexpr std::uint64_t ns_between_events_when_quiet = 1000;
/// Of one connection in one poll, so that others have their turn.
constexpr std::uint64_t placed_bytes_max = 4 << 20;
constexpr std::uint32_t silence_look_s = 4;
constexpr std::uint64_t ns_per_ms = 1'000'000;

}  // namespace

Tcp::Tcp(Options options)
    : identity_(options.identity),
      addresses_of_(std::move(options.addresses_of)),
      lanes_of_(std::move(options.lanes_of)),
      own_addresses_(std::move(options.own_addresses)),
      door_(
          identity_, std::move(options.listener), options.connect_timeout_ms,
          options.connect_back != nullptr
      ),
      peers_(options.identity.count),
      loss_delay_ns_(options.loss_delay_ms * ns_per_ms),
      watches_awaited_(options.watches_awaited),
      news_descriptor_(options.news_descriptor),
      take_news_(std::move(options.take_news)),
      connect_back_(std::move(options.connect_back)),
      take_connect_back_(std::move(options.take_connect_back)) {
    capabilities_.eager_bytes_max = eager_bytes_max;
    capabilities_.fragment_bytes_max = fragment_bytes_max;
    capabilities_.can_get = true;
    if (lanes_of_) return;
    lanes_of_ =
        [sockets = options.sockets](const Ends& first, const std::vector<SocketAddress>& of_peer) {
            return choose_lanes({first, sockets}, of_peer, find_interface_addresses(), find_source);
        };
}

Status Tcp::start() {
    if (const Status status = load_sodium(); !status.ok()) return status;
    sodium().randombytes_buf(&key_, sizeof key_);
    events_.reset(::epoll_create1(EPOLL_CLOEXEC));
    if (!events_.is_open()) return fail_errno(errno, "cannot make an epoll descriptor");
    if (const Status status = door_.start(); !status.ok()) return status;
    silence_timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    loss_timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    watch_timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!silence_timer_.is_open() || !loss_timer_.is_open() || !watch_timer_.is_open()) {
        return fail_errno(errno, "cannot make a timer");
    }
    for (const int descriptor :
         {door_.descriptor(), silence_timer_.get(), loss_timer_.get(), watch_timer_.get(),
          news_descriptor_}) {
        if (descriptor < 0) continue;
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = descriptor;
        if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
            return fail_errno(errno, "cannot watch for TCP connections");
        }
    }
    capabilities_.sleep_descriptor = events_.get();
    return {};
}

// ---- Sending ----

Connection* Tcp::connection_to(PeerIndex index) {
    const auto number = static_cast<std::uint32_t>(index);
    Peer& peer = peers_[number];
    if (peer.out != nullptr || peer.is_lost || peer.has_finished || door_.is_opening(number)) {
        return peer.out;
    }
    const auto addresses = addresses_of_(number);
    if (!addresses) return nullptr;
    is_changing_.store(true, std::memory_order_relaxed);
    door_.open(number, *addresses);
    is_changing_.store(false, std::memory_order_relaxed);
    return nullptr;
}

Post Tcp::post_eager(PeerIndex peer, MessageHeader header, Bytes payload) {
    DLRT_ASSERT(payload.size() <= eager_bytes_max);
    Connection* const connection = connection_to(peer);
    if (peers_[static_cast<std::uint32_t>(peer)].has_finished) [[unlikely]]
        return Post::done;
    // What is kept here goes on only when this process makes progress: so it is one message at
    // most.
    if (connection == nullptr || !connection->out.is_idle()) return Post::busy;
    connection->out.send(
        {static_cast<std::uint32_t>(payload.size()), FrameKind::message, header.first,
         header.second},
        payload
    );
    after_send(*connection);
    return Post::done;
}

Post Tcp::post_fragment(PeerIndex peer, MessageHeader header, Bytes payload, OperationId id) {
    DLRT_ASSERT(payload.size() <= fragment_bytes_max);
    Connection* const connection = connection_to(peer);
    if (connection == nullptr || connection->out.segment_count() >= segments_max) {
        return Post::busy;
    }
    const bool has_gone = connection->out.send_in_place(
        {static_cast<std::uint32_t>(payload.size()), FrameKind::message, header.first,
         header.second},
        payload, id
    );
    after_send(*connection);
    return has_gone ? Post::done : Post::pending;
}

void Tcp::after_send(Connection& connection) {
    if (!is_silence_timed_) [[unlikely]]
        set_silence_timer(silence_look_s);
    if (!connection.out.failure().empty()) [[unlikely]] {
        connection.is_read_empty = false;
        failed_.push_back(&connection);
    } else if (!connection.out.is_idle() && !connection.is_watched_for_room) {
        watch_for_room(connection, true);
    }
}

void Tcp::watch_for_room(Connection& connection, bool is_wanted) {
    epoll_event event{};
    event.events = is_wanted ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.fd = connection.socket.get();
    ::epoll_ctl(events_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
    connection.is_watched_for_room = is_wanted;
}

void Tcp::flush(Connection& connection) {
    connection.out.flush(gone_);
    complete_gone();
    if (!connection.out.failure().empty()) {
        connection.is_read_empty = false;
        return failed_.push_back(&connection);
    }
    if (connection.out.is_idle() && connection.is_watched_for_room) {
        watch_for_room(connection, false);
    }
}

void Tcp::complete_gone() {
    for (const OperationId id : gone_) complete(id, {});
    gone_.clear();
}

// ---- Receiving ----

std::size_t Tcp::poll(std::span<Arrival> out) {
    for (Connection* const connection : lenders_) connection->has_lent_payloads = false;
    lenders_.clear();
    Collector arrivals{out};
    for (std::size_t i = 0; i < hot_.size(); ++i) read(*hot_[i], arrivals);
    std::erase_if(hot_, [](Connection* connection) {
        return ++connection->quiet_polls > polls_until_cold;
    });
    const std::uint64_t now_ns = monotonic_ns();
    const std::uint64_t pause_ns = hot_.empty() ? ns_between_events_when_quiet : ns_between_events;
    if (now_ns - looked_at_ns_ >= pause_ns || hot_.size() > hot_max) {
        looked_at_ns_ = now_ns;
        look_at_events(arrivals);
    }
    if (!answers_.empty()) answer_gets();
    if (!failed_.empty()) [[unlikely]]
        drop_failed();
    if (!unsettled_losses_.empty()) [[unlikely]]
        settle_losses();
    return arrivals.count;
}

void Tcp::look_at_events(Collector& arrivals) {
    if (take_connect_back_) take_connect_backs();
    std::array<epoll_event, 32> events;
    const int count = ::epoll_wait(
        events_.get(), events.data(), static_cast<int>(events.size()), 0
    );
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == door_.descriptor()) {
            look_at_door();
            continue;
        }
        if (event.data.fd == loss_timer_.get()) {
            std::uint64_t times = 0;
            [[maybe_unused]] const ssize_t size = ::read(event.data.fd, &times, sizeof times);
            set_loss_timer();
            continue;
        }
        if (event.data.fd == watch_timer_.get()) {
            std::uint64_t times = 0;
            [[maybe_unused]] const ssize_t size = ::read(event.data.fd, &times, sizeof times);
            is_time_to_watch_ = true;
            continue;
        }
        if (event.data.fd == silence_timer_.get()) {
            look_for_silence();
            continue;
        }
        if (event.data.fd == news_descriptor_) {
            take_news_();
            const bool has_ended = (event.events & (EPOLLHUP | EPOLLERR)) != 0;
            if (has_ended) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, news_descriptor_, nullptr);
            continue;
        }
        Connection* const connection = find(event.data.fd);
        if (connection == nullptr) continue;
        if ((event.events & EPOLLOUT) != 0) flush(*connection);
        if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) continue;
        if (std::ranges::find(hot_, connection) == hot_.end()) hot_.push_back(connection);
        read(*connection, arrivals);
    }
}

void Tcp::look_at_door() {
    is_changing_.store(true, std::memory_order_relaxed);
    Door::Outcome outcome = door_.advance();
    for (Door::Opened& opened : outcome.opened) take_opened(std::move(opened));
    for (const std::uint32_t peer : outcome.to_ask) {
        if (!connect_back_(peer, "")) door_.note_no_connect_back(peer, "nobody can ask it to");
    }
    is_changing_.store(false, std::memory_order_relaxed);
    for (const Door::Closed& refused : outcome.refused) connect_back_(refused.peer, refused.reason);
    for (Door::Closed& closed : outcome.closed) {
        // It may have come by itself in the same moment.
        if (peers_[closed.peer].out != nullptr) continue;
        lose(closed.peer, std::move(closed.reason) + how_to_choose(), loss_delay_ns_);
    }
}

bool Tcp::take_connect_backs() {
    bool has_taken_one = false;
    while (auto request = take_connect_back_()) {
        has_taken_one = true;
        if (request->peer >= peers_.size() || request->peer == identity_.own) continue;
        if (request->failure.empty()) {
            askers_.push_back(request->peer);
            continue;
        }
        is_changing_.store(true, std::memory_order_relaxed);
        door_.note_no_connect_back(request->peer, std::move(request->failure));
        is_changing_.store(false, std::memory_order_relaxed);
    }
    std::erase_if(askers_, [this](std::uint32_t peer) { return answer_asker(peer); });
    return has_taken_one;
}

bool Tcp::answer_asker(std::uint32_t number) {
    const Peer& peer = peers_[number];
    if (peer.out != nullptr || peer.has_finished) return true;
    if (peer.is_lost) {
        connect_back_(number, "it has given this process up");
        return true;
    }
    const auto addresses = addresses_of_(number);
    if (!addresses) return false;
    is_changing_.store(true, std::memory_order_relaxed);
    door_.connect_back(number, *addresses);
    is_changing_.store(false, std::memory_order_relaxed);
    return true;
}

Connection* Tcp::find(int socket) const {
    const auto found = connections_.find(socket);
    return found != connections_.end() ? found->second.get() : nullptr;
}

void Tcp::take_opened(Door::Opened&& opened) {
    Peer& peer = peers_[opened.peer];
    if (peer.is_lost) return;
    const int socket = opened.socket.get();
    std::string ends = fmt::format("from {} to {}", own_end_of(socket), other_end_of(socket));
    auto connection = std::make_unique<Connection>(
        std::move(opened.socket), opened.peer, std::move(ends)
    );
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = socket;
    ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket, &event);
    if (opened.is_lane) {
        connection->is_lane = true;
        peer.lanes.push_back(connection.get());
        connection->out.send({0, FrameKind::lane, 0, 0}, {});
    } else if (peer.out == nullptr) {
        peer.out = connection.get();
    }
    connections_[socket] = std::move(connection);
}

void Tcp::read(Connection& connection, Collector& arrivals) {
    Incoming& in = connection.in;
    if (!connection.has_lent_payloads) in.release();
    std::uint64_t read_count = 0;
    connection.is_read_empty = false;
    constexpr std::uint64_t reads_max = placed_bytes_max / data_bytes_max * 4;
    bool may_be_more = true;
    while (read_count < reads_max) {
        if (!in.is_placing()) {
            const auto header = in.header();
            if (header && take_frame(connection, *header, arrivals)) continue;
            if (arrivals.is_full() && in.has_something()) break;
        }
        // To ask the system once more costs as much as a small message.
        if (!may_be_more && in.failure().empty()) break;
        if (!in.failure().empty() || !in.read()) {
            connection.is_read_empty = true;
            break;
        }
        ++read_count;
        may_be_more = in.may_have_left_something();
        connection.quiet_polls = 0;
        if (connection.placed_get != 0 && !in.is_placing()) placed(connection);
    }
    if (!connection.failure().empty()) failed_.push_back(&connection);
}

bool Tcp::take_frame(Connection& connection, const FrameHeader& header, Collector& arrivals) {
    Incoming& in = connection.in;
    if (header.kind == FrameKind::data) {
        take_data(connection, header);
        return connection.in.failure().empty();
    }
    const bool is_get = header.kind == FrameKind::get && header.payload_bytes == sizeof(GetRequest);
    const bool is_message = header.kind == FrameKind::message &&
                            header.payload_bytes <= fragment_bytes_max;
    if (header.kind == FrameKind::goodbye && header.payload_bytes == 0) {
        take_goodbye(connection, header);
        return true;
    }
    if (header.kind == FrameKind::lane && header.payload_bytes == 0) {
        take_lane(connection, header);
        return in.failure().empty();
    }
    if ((!is_get && !is_message) || connection.is_lane) {
        in.fail_because("what came is no frame");
        return false;
    }
    const auto payload = in.payload(header);
    if (!payload) return false;
    if (is_get) {
        take_get(connection, header, *payload);
        in.skip(header);
        return connection.in.failure().empty();
    }
    if (arrivals.is_full()) return false;
    arrivals.out[arrivals.count++] = {
        PeerIndex{connection.peer}, {header.first, header.second}, *payload};
    in.skip(header);
    if (!std::exchange(connection.has_lent_payloads, true)) lenders_.push_back(&connection);
    return true;
}

std::size_t Tcp::poll_completions(std::span<Completion> out) {
    std::size_t count = 0;
    for (; count < out.size() && !completions_.empty(); ++count) {
        out[count] = completions_.front();
        completions_.pop_front();
    }
    return count;
}

bool Tcp::has_work() {
    looked_at_ns_ = 0;
    if (take_connect_back_ && take_connect_backs()) return true;
    if (!completions_.empty() || !losses_.empty() || !failed_.empty()) return true;
    const auto can_be_settled = [this, now_ns = monotonic_ns()](const HeldLoss& held) {
        return now_ns >= held.due_ns || has_connection_to(held.loss.peer);
    };
    if (std::ranges::any_of(unsettled_losses_, can_be_settled)) return true;
    const auto has_something = [](const auto& entry) { return entry.second->in.has_something(); };
    if (std::ranges::any_of(connections_, has_something)) return true;
    epoll_event event{};
    return ::epoll_wait(events_.get(), &event, 1, 0) > 0;
}

Result<std::unique_ptr<TcpEndpoint>> open_endpoint(Options options) {
    auto endpoint = std::make_unique<Tcp>(std::move(options));
    if (const Status status = endpoint->start(); !status.ok()) return status;
    return std::unique_ptr<TcpEndpoint>(std::move(endpoint));
}

}  // namespace dlrt::tcp
