// SPDX-License-Identifier: Apache-2.0
/// Reading out of a peer's memory, from both sides: a request goes over the connection of the
/// messages, and the data comes back over it or, of large gets, over all lanes. Each piece says
/// where it belongs, so that it doesn't matter which comes first.
#include "runtime/base/check.hpp"
#include "transports/tcp/lanes.hpp"
#include "transports/tcp/tcp_endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace dlrt::tcp {

Post Tcp::post_get(PeerIndex peer, RemoteMemory source, MutableBytes target, OperationId id) {
    if (target.empty()) return Post::done;
    Connection* const connection = connection_to(peer);
    if (connection == nullptr || connection->out.segment_count() >= segments_max) {
        return peers_[static_cast<std::uint32_t>(peer)].is_lost ? Post::refused : Post::busy;
    }
    const std::uint64_t number = next_get_++;
    gets_[number] = {target, target.size(), id, static_cast<std::uint32_t>(peer)};
    const GetRequest request{number, source.key};
    connection->out.send(
        {sizeof request, FrameKind::get, source.address, target.size()},
        std::as_bytes(std::span(&request, 1))
    );
    seek_lanes(*connection, target.size());
    after_send(*connection);
    return Post::pending;
}

void Tcp::send_piece(Answer& answer, Connection& connection, std::uint32_t size_bytes_max) {
    const Bytes piece = answer.rest.first(std::min<std::size_t>(answer.rest.size(), size_bytes_max)
    );
    connection.out.send_in_place(
        {static_cast<std::uint32_t>(piece.size()), FrameKind::data, answer.number,
         answer.offset_bytes},
        piece
    );
    answer.offset_bytes += piece.size();
    answer.rest = answer.rest.subspan(piece.size());
}

void Tcp::share_among_lanes(Answer& answer) {
    // Who takes more gets more: one that is full isn't waited for.
    const std::vector<Connection*>& lanes = peers_[answer.connection->peer].lanes;
    for (bool has_gone = true; has_gone && !answer.rest.empty();) {
        has_gone = false;
        for (std::size_t i = 0; i <= lanes.size() && !answer.rest.empty(); ++i) {
            Connection& connection = i == 0 ? *answer.connection : *lanes[i - 1];
            if (!connection.out.is_idle() || !connection.out.failure().empty()) continue;
            send_piece(answer, connection, shared_data_bytes_max);
            after_send(connection);
            has_gone = true;
        }
    }
}

void Tcp::answer_gets() {
    // Each connection's answers stay in their order; one that is full doesn't hold up the others.
    for (auto answer = answers_.begin(); answer != answers_.end();) {
        Connection& connection = *answer->connection;
        if (answer->is_large && !peers_[connection.peer].lanes.empty()) {
            share_among_lanes(*answer);
        } else {
            while (!answer->rest.empty() && connection.out.is_idle() &&
                   connection.out.failure().empty()) {
                send_piece(*answer, connection, data_bytes_max);
            }
            after_send(connection);
        }
        answer = answer->rest.empty() ? answers_.erase(answer) : std::next(answer);
    }
}

/// By the smaller of the two, so that they don't both.
void Tcp::seek_lanes(const Connection& connection, std::uint64_t get_bytes) {
    Peer& peer = peers_[connection.peer];
    if (get_bytes < shared_get_bytes_min || peer.has_sought_lanes) return;
    if (identity_.own > connection.peer) return;
    const auto addresses = addresses_of_(connection.peer);
    if (!addresses) return;
    peer.has_sought_lanes = true;
    const int first = connection.socket.get();
    const Ends ends{own_end_of(first), other_end_of(first)};
    is_changing_.store(true, std::memory_order_relaxed);
    for (const SocketAddress& address : lanes_of_(ends, *addresses)) {
        door_.open_lane(connection.peer, address);
    }
    is_changing_.store(false, std::memory_order_relaxed);
}

void Tcp::take_lane(Connection& connection, const FrameHeader& header) {
    Peer& peer = peers_[connection.peer];
    if (peer.out == &connection || connection.is_lane || peer.lanes.size() == lanes_max) {
        return connection.in.fail_because("what came is no frame");
    }
    connection.in.skip(header);
    connection.is_lane = true;
    peer.lanes.push_back(&connection);
}

void Tcp::take_get(Connection& connection, const FrameHeader& header, Bytes payload) {
    GetRequest request;
    std::memcpy(&request, payload.data(), sizeof request);
    // The peer has proved that it belongs to the job, and the key that it has the address of us.
    if (request.key != key_) return connection.in.fail_because("it asks for unknown memory");
    const auto address = static_cast<std::uintptr_t>(header.first);
    answers_.push_back(
        {&connection,
         request.number,
         {reinterpret_cast<const std::byte*>(address), static_cast<std::size_t>(header.second)},
         0,
         header.second >= shared_get_bytes_min}
    );
    seek_lanes(connection, header.second);
}

void Tcp::take_data(Connection& connection, const FrameHeader& header) {
    const auto found = gets_.find(header.first);
    const bool is_ours = found != gets_.end() && found->second.peer == connection.peer &&
                         header.payload_bytes > 0 && header.second <= found->second.target.size() &&
                         header.payload_bytes <= found->second.target.size() - header.second &&
                         header.payload_bytes <= found->second.missing_bytes;
    if (!is_ours) return connection.in.fail_because("data came that nobody asked for");
    connection.placed_get = header.first;
    connection.placed_bytes = header.payload_bytes;
    connection.in.place(found->second.target.subspan(header.second, header.payload_bytes));
    if (!connection.in.is_placing()) placed(connection);
}

void Tcp::placed(Connection& connection) {
    const auto found = gets_.find(std::exchange(connection.placed_get, 0));
    DLRT_ASSERT(found != gets_.end());
    found->second.missing_bytes -= connection.placed_bytes;
    if (found->second.missing_bytes > 0) return;
    complete(found->second.id, {});
    gets_.erase(found);
}

}  // namespace dlrt::tcp
