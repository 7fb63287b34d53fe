// SPDX-License-Identifier: Apache-2.0
#include "launcher/control_server.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/wireup/control_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// Of connections over the abstract socket that have not said who they are.
constexpr std::size_t strangers_max = 64;

bool is_alive(std::int32_t pid) {
    return ::kill(pid, 0) == 0 || errno == EPERM;
}

/// A rank that doesn't read its answers must not stop the daemon.
bool can_send(int descriptor) {
    pollfd entry{descriptor, POLLOUT, 0};
    return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLOUT) != 0;
}

}  // namespace

ControlServer::ControlServer(EventLoop& loop, PreparedJob& job, Handlers handlers)
    : loop_(loop), job_(job), handlers_(std::move(handlers)), claims_(job.ends.size()) {
    for (std::uint32_t local_rank = 0; local_rank < job.ends.size(); ++local_rank) {
        add_connection(job.ends[local_rank].control.release(), local_rank);
    }
}

Status ControlServer::listen() {
    Result<Fd> listener = listen_abstract(job_.daemon_socket_name);
    if (!listener) return listener.error();
    listener_ = std::make_unique<DescriptorWatch>(loop_, listener->release());
    listener_->when_readable([this] { accept(); });
    return {};
}

void ControlServer::accept() {
    std::erase_if(connections_, [](const auto& connection) {
        return !connection->watch.is_open();
    });
    Result<Fd> accepted = accept_connection(listener_->get(), 0);
    const auto strangers = std::ranges::count_if(connections_, [](const auto& connection) {
        return connection->local_rank == UINT32_MAX && connection->watch.is_open();
    });
    if (accepted && is_same_user(accepted->get()) &&
        static_cast<std::size_t>(strangers) < strangers_max) {
        add_connection(accepted->release(), UINT32_MAX);
    }
    listener_->when_readable([this] { accept(); });
}

void ControlServer::add_connection(int descriptor, std::uint32_t local_rank) {
    auto connection = std::make_unique<Connection>(loop_, descriptor);
    connection->local_rank = local_rank;
    connection->watch.when_readable([this, &added = *connection] { read(added); });
    connections_.push_back(std::move(connection));
}

void ControlServer::read(Connection& connection) {
    if (take_next(connection) == Taken::nothing_more) return close(connection);
    connection.watch.when_readable([this, &connection] { read(connection); });
}

ControlServer::Taken ControlServer::take_next(Connection& connection) {
    const Result<ReceivedMessage> received = receive_message(connection.watch.get(), 0);
    if (!received) {
        return received.error().code == Errc::timeout ? Taken::nothing_yet : Taken::nothing_more;
    }
    const bool goes_on = std::visit(
        [&](const auto& message) { return take(connection, message); }, received->message
    );
    return goes_on ? Taken::message : Taken::nothing_more;
}

void ControlServer::take_pending(std::uint32_t local_rank) {
    take_pending_beside(nullptr, local_rank);
}

void ControlServer::take_pending_beside(const Connection* reader, std::uint32_t local_rank) {
    for (const auto& connection : connections_) {
        if (connection.get() == reader || connection->local_rank != local_rank) continue;
        if (!connection->watch.is_open()) continue;
        Taken taken = Taken::message;
        while (taken == Taken::message) taken = take_next(*connection);
        if (taken == Taken::nothing_more) close(*connection);
    }
}

void ControlServer::close(Connection& connection) {
    std::erase_if(open_questions_, [&](const Question& question) {
        return question.asker == &connection;
    });
    connection.watch.close();
}

bool ControlServer::answer(Connection& connection, const ControlMessage& message, int descriptor) {
    if (!connection.watch.is_open() || !can_send(connection.watch.get())) return false;
    const std::span<const int> beside(&descriptor, descriptor >= 0 ? 1 : 0);
    return send_message(connection.watch.get(), message, beside).ok();
}

bool ControlServer::refuse(Connection& connection, std::string reason) {
    answer(connection, Refused{std::move(reason)});
    return false;
}

bool ControlServer::take(Connection& connection, const Hello& hello) {
    if (hello.protocol_version != control_protocol_version) {
        return refuse(
            connection, fmt::format(
                            "dlrun speaks version {} of the protocol, the program {}",
                            control_protocol_version, hello.protocol_version
                        )
        );
    }
    if (!is_equal_secret(hello.token, job_.token)) return refuse(connection, "wrong token");
    const auto end = std::ranges::find(job_.ends, hello.rank, &RankEnds::rank);
    if (end == job_.ends.end()) {
        return refuse(connection, fmt::format("rank {} is not on this host", hello.rank));
    }
    const auto local_rank = static_cast<std::uint32_t>(end - job_.ends.begin());
    if (connection.local_rank != UINT32_MAX && connection.local_rank != local_rank) {
        return refuse(
            connection, fmt::format("this connection is not that of rank {}", hello.rank)
        );
    }
    Claim& claim = claims_[local_rank];
    // Who had the rank may have left it over another connection, before this was said.
    if (claim.pid != 0) take_pending_beside(&connection, local_rank);
    if (claim.pid != 0 && claim.pid != hello.pid && is_alive(claim.pid)) {
        return refuse(
            connection,
            fmt::format("rank {} is already claimed by process {}", hello.rank, claim.pid)
        );
    }
    connection.local_rank = local_rank;
    connection.pid = hello.pid;
    claim.pid = hello.pid;
    watch_claimant(local_rank);
    if (!hello.reattach) return answer(connection, Welcome{});
    const std::array<int, 3> descriptors = {
        job_.map_file.get(), job_.segment.descriptor(), end->doorbell.get()};
    return can_send(connection.watch.get()) &&
           send_message(connection.watch.get(), Welcome{}, descriptors).ok();
}

void ControlServer::watch_claimant(std::uint32_t local_rank) {
    Claim& claim = claims_[local_rank];
    if (claim.death != nullptr) claim.death->close();
    // The keeper tells of the death of the process that it started.
    if (claim.pid == claim.rank_pid) return;
    const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, claim.pid, 0));
    if (pidfd < 0) return;
    claim.death = std::make_unique<DescriptorWatch>(loop_, pidfd);
    claim.death->when_readable([this, local_rank] {
        Claim& dead = claims_[local_rank];
        // Of the rank's own process the exit status decides what its death means.
        if (dead.rank_pid == 0)
            dead.has_died_early = true;
        else if (dead.pid != dead.rank_pid)
            give_up_claim(local_rank);
    });
}

void ControlServer::set_rank_pid(std::uint32_t local_rank, std::int32_t pid) {
    Claim& claim = claims_[local_rank];
    claim.rank_pid = pid;
    if (claim.has_died_early && claim.pid != pid) give_up_claim(local_rank);
}

bool ControlServer::is_claimed(std::uint32_t local_rank) const {
    return claims_[local_rank].pid != 0;
}

void ControlServer::give_up_claim(std::uint32_t local_rank) {
    constexpr auto absent = static_cast<std::uint32_t>(RankLife::absent);
    const auto life = job_.segment.life(local_rank).life.load(std::memory_order_acquire);
    // Who has never joined will not any more: others may wait for it too.
    if (claims_[local_rank].pid == 0 && life != absent) return;
    claims_[local_rank].pid = 0;
    job_.segment.mark_departed(local_rank);
    if (job_.map.hosts.size() > 1) handlers_.on_departed(job_.ends[local_rank].rank);
}

bool ControlServer::take(Connection& connection, const Abort& abort) {
    if (connection.local_rank == UINT32_MAX) return false;
    const std::uint32_t rank = job_.ends[connection.local_rank].rank;
    job_.segment.raise_abort(abort.code, rank, abort.text);
    const std::int32_t pid = claims_[connection.local_rank].pid;
    handlers_.on_abort(connection.local_rank, pid, abort);
    return true;
}

bool ControlServer::take(Connection& connection, const Finalized&) {
    if (connection.local_rank == UINT32_MAX) return false;
    Claim& claim = claims_[connection.local_rank];
    if (claim.pid == connection.pid) claim.pid = 0;
    return true;
}

bool ControlServer::take(Connection& connection, const PutAddress& put) {
    if (connection.local_rank == UINT32_MAX) return false;
    const std::uint32_t rank = job_.ends[connection.local_rank].rank;
    const RankAddress address{rank, put.transport, put.address};
    learn(address);
    if (job_.map.hosts.size() > 1) handlers_.on_address(address);
    return true;
}

void ControlServer::learn(const RankAddress& known) {
    addresses_[{known.rank, known.transport}] = known.address;
    std::erase_if(open_questions_, [&](const Question& question) {
        if (question.rank != known.rank || question.transport != known.transport) return false;
        answer(*question.asker, Address{known.rank, known.transport, known.address});
        return true;
    });
}

bool ControlServer::take(Connection& connection, const GetAddress& get) {
    if (connection.local_rank == UINT32_MAX) return false;
    if (get.rank >= job_.map.size()) {
        return refuse(
            connection, fmt::format("rank {} is not in 0..{}", get.rank, job_.map.size() - 1)
        );
    }
    const auto found = addresses_.find({get.rank, get.transport});
    if (found != addresses_.end()) {
        return answer(connection, Address{get.rank, get.transport, found->second});
    }
    open_questions_.push_back({&connection, get.rank, get.transport});
    const bool is_elsewhere = job_.map.ranks[get.rank].host_index != job_.host_index;
    if (is_elsewhere && asked_.emplace(get.rank, get.transport).second) {
        handlers_.on_address_wanted({get.rank, get.transport});
    }
    return true;
}

bool ControlServer::take(Connection& connection, const GetDoorbell& get) {
    if (connection.local_rank == UINT32_MAX) return false;
    if (get.local_rank >= job_.ends.size()) {
        return refuse(
            connection,
            fmt::format("local rank {} is not in 0..{}", get.local_rank, job_.ends.size() - 1)
        );
    }
    return answer(
        connection, DoorbellReply{get.local_rank}, job_.ends[get.local_rank].doorbell.get()
    );
}

bool ControlServer::take(Connection& connection, const ConnectBack& request) {
    if (connection.local_rank == UINT32_MAX) return false;
    if (request.rank >= job_.map.size()) {
        return refuse(
            connection, fmt::format("rank {} is not in 0..{}", request.rank, job_.map.size() - 1)
        );
    }
    const std::uint32_t own_rank = job_.ends[connection.local_rank].rank;
    handlers_.on_connect_back({own_rank, request.rank, request.transport, request.failure});
    return true;
}

void ControlServer::deliver(const RankConnectBack& request) {
    if (request.to >= job_.map.size() || job_.map.ranks[request.to].host_index != job_.host_index)
        return;
    const std::uint32_t local_rank = job_.map.ranks[request.to].local_rank;
    const ConnectBack delivered{request.from, request.transport, request.failure};
    bool is_delivered = false;
    for (const auto& connection : connections_) {
        // Of several, one is that of the process that has the rank now.
        const bool is_its = connection->local_rank == local_rank &&
                            connection->pid == claims_[local_rank].pid && connection->pid != 0;
        if (is_its && !is_delivered) is_delivered = answer(*connection, delivered);
    }
    if (is_delivered || !request.failure.empty()) return;
    handlers_.on_connect_back(
        {request.to, request.from, request.transport, "it isn't in the job any more"}
    );
}

template<typename Other>
bool ControlServer::take(Connection& connection, const Other&) {
    return refuse(connection, "only a daemon says that");
}

}  // namespace dlrt::launcher
