// SPDX-License-Identifier: Apache-2.0
/// The sender's half of the protocols: eager while the receiver has credit, else an announcement
/// (RTS), after which the receiver reads the data itself (and says FIN) or asks for a stream (CTS).
#include "runtime/engine_state.hpp"

#include <algorithm>
#include <cstring>

namespace dlrt {
namespace {

/// Pieces posted of one message before others get their turn.
constexpr int fragments_per_turn = 8;

std::uint64_t credit_cost(std::uint64_t size_bytes) {
    return std::max(size_bytes, credit_per_message_bytes);
}

const std::byte* first_byte(const Layout& layout, const void* address) {
    const auto* base = static_cast<const std::byte*>(address);
    return layout.is_contiguous() ? base + layout.true_lower_bound_bytes() : base;
}

}  // namespace

void EngineState::note_posted(Peer& peer) {
    peer.slot->was_posted = true;
    // Nobody rings for what a rank sends to itself: another of its threads may sleep meanwhile.
    if (peer.slot->is_self_only) waiter.note_event();
}

inline bool EngineState::send_eager(
    SendMode mode, Route to, const ConstBuffer& buffer, std::uint32_t check
) {
    Peer& peer = peer_of(to.peer);
    const Layout& layout = **buffer.layout;
    const std::uint64_t size_bytes = layout.size_bytes() * buffer.count;
    const std::uint64_t cost = credit_cost(size_bytes);
    if (mode != SendMode::standard || !is_eager_size(peer, size_bytes) ||
        cost > peer.credit_bytes || peer.is_backlogged || !layout.is_contiguous()) {
        return false;
    }
    const MessageHeader header = matched_header(WireKind::eager, to.context, to.tag, check);
    const Bytes payload{first_byte(layout, buffer.address), size_bytes};
    if (peer.endpoint->post_eager(peer.index, header, payload) != Post::done) return false;
    ++starts_;
    peer.credit_bytes -= cost;
    note_posted(peer);
    return true;
}

bool EngineState::try_send_eager(SendMode mode, Route to, const ConstBuffer& buffer) {
    return send_eager(mode, to, buffer, 0);
}

Request& EngineState::make_send(SendMode mode, Route to, const ConstBuffer& buffer) {
    const Layout& layout = **buffer.layout;
    Request& request = requests.acquire();
    request.key = {to.context, to.peer, to.tag};
    request.kind = mode == SendMode::standard ? RequestKind::send : RequestKind::synchronous_send;
    request.address = const_cast<std::byte*>(first_byte(layout, buffer.address));
    request.capacity_bytes = layout.size_bytes() * buffer.count;
    request.message_bytes = request.capacity_bytes;
    request.found_source = no_rank;
    request.found_tag = any_tag;
    if (!layout.is_contiguous()) request.extra = *buffer.layout;
    return request;
}

inline Request& EngineState::sent_at_once(Route to) {
    Request& request = requests.acquire();
    request.key.source = to.peer;
    request.kind = RequestKind::send;
    request.is_started = true;
    return request;
}

Request& EngineState::post_send(SendMode mode, Route to, const ConstBuffer& buffer) {
    if (!send_eager(mode, to, buffer, 0)) [[unlikely]] {
        Request& request = make_send(mode, to, buffer);
        start(request);
        return request;
    }
    return sent_at_once(to);
}

Request& EngineState::post_checked_send(Route to, const ConstBuffer& buffer, std::uint32_t check) {
    if (send_eager(SendMode::standard, to, buffer, check)) return sent_at_once(to);
    Request& request = make_send(SendMode::standard, to, buffer);
    request.set_check(check);
    start(request);
    return request;
}

void EngineState::start_send(Request& request) {
    Peer& peer = peer_of(request.key.source);
    request.moved_bytes = 0;
    request.message_bytes = request.capacity_bytes;
    request.is_done.store(false, std::memory_order_relaxed);
    ++active_sends_;
    if (peer.sends.is_empty() && try_post(peer, request) == Posted::yes) return;
    request.stage = Stage::backlog;
    peer.sends.push_back(request);
    add_to_backlog(peer);
}

EngineState::Posted EngineState::try_post(Peer& peer, Request& request) {
    const std::uint64_t size_bytes = request.capacity_bytes;
    const std::uint64_t cost = credit_cost(size_bytes);
    if (request.kind == RequestKind::synchronous_send || !is_eager_size(peer, size_bytes) ||
        cost > peer.credit_bytes) {
        return post_announcement(peer, request);
    }
    const MatchKey& key = request.key;
    const MessageHeader header = matched_header(
        WireKind::eager, key.context, key.tag, request.own_check()
    );
    const Bytes payload = data_of(request, 0, size_bytes);
    if (peer.endpoint->post_eager(peer.index, header, payload) != Post::done) return Posted::busy;
    peer.credit_bytes -= cost;
    note_posted(peer);
    complete(request, Errc::ok);
    return Posted::yes;
}

EngineState::Posted EngineState::post_announcement(Peer& peer, Request& request) {
    RtsBody body{.size_bytes = request.capacity_bytes, .sender = request.token(), .memory = {}};
    if (request.gapped() == nullptr && request.capacity_bytes != 0) {
        body.memory = peer.endpoint->describe({request.address, request.capacity_bytes});
    }
    const MessageHeader header = matched_header(
        WireKind::rts, request.key.context, request.key.tag, request.own_check()
    );
    if (peer.endpoint->post_eager(peer.index, header, bytes_of(body)) != Post::done) {
        return Posted::busy;
    }
    note_posted(peer);
    ++peer.rendezvous_sends;
    request.stage = Stage::announced;
    return Posted::yes;
}

Bytes EngineState::data_of(const Request& request, std::uint64_t begin, std::uint64_t size) {
    const LayoutRef* const layout = request.gapped();
    if (layout == nullptr) return {request.address + begin, size};
    if (scratch_.size() < size) scratch_.resize(size);
    const std::uint64_t count = request.capacity_bytes /
                                std::max<std::uint64_t>((*layout)->size_bytes(), 1);
    pack(**layout, count, request.address, begin, {scratch_.data(), size});
    return {scratch_.data(), size};
}

void EngineState::on_cts(Bytes payload, RequestToken token) {
    Request* const request = requests.find(token);
    if (request == nullptr || request->stage != Stage::announced) return;
    const auto body = body_of<CtsBody>(payload);
    request->set_other_side(body.receiver);
    request->moved_bytes = body.begin_bytes;
    request->message_bytes = std::min(body.end_bytes, request->capacity_bytes);
    request->stage = Stage::streaming;
    streaming_.push_back(*request);
}

void EngineState::on_fin(RequestToken token) {
    Request* const request = requests.find(token);
    if (request == nullptr || request->stage != Stage::announced) return;
    complete(*request, Errc::ok);
}

bool EngineState::stream(Request& request) {
    Peer& peer = peer_of(request.key.source);
    Endpoint& endpoint = *peer.endpoint;
    const std::uint64_t piece_bytes = endpoint.fragment_bytes(request.message_bytes);
    const auto first = static_cast<std::uint64_t>(request.other_side());
    for (int turn = 0; turn < fragments_per_turn; ++turn) {
        const std::uint64_t left = request.message_bytes - request.moved_bytes;
        if (left == 0) return true;
        // One of a request's pending pieces at most is packed: the scratch memory belongs to it.
        if (request.gapped() != nullptr && request.pending_posts != 0) return turn != 0;
        if (request.pending_posts == UINT8_MAX) return turn != 0;
        const std::uint64_t size = std::min(left, piece_bytes);
        const Bytes piece = data_of(request, request.moved_bytes, size);
        const Post post = endpoint.post_fragment(
            peer.index, control_header(WireKind::fragment, first), piece,
            OperationId{static_cast<std::uint64_t>(request.token())}
        );
        if (post != Post::done && post != Post::pending) {
            peer.busy_round = stream_round_;
            return turn != 0;
        }
        note_posted(peer);
        request.moved_bytes += size;
        if (post == Post::pending) {
            ++request.pending_posts;
            ++peer.slot->pending_posts;
            if (request.gapped() != nullptr) {
                held_scratch_.push_back({request.token(), std::move(scratch_)});
                scratch_ = {};
            }
        }
    }
    return true;
}

bool EngineState::advance_streams() {
    bool has_moved = false;
    PostedReceive* at = streaming_.first;
    streaming_ = {};
    ++stream_round_;
    while (at != nullptr) {
        auto& request = static_cast<Request&>(*at);
        at = at->next;
        // Asking again for each of many messages would cost more than the copies.
        const bool is_busy = peer_of(request.key.source).busy_round == stream_round_;
        if (!is_busy) has_moved = stream(request) || has_moved;
        if (request.moved_bytes < request.message_bytes) {
            streaming_.push_back(request);
        } else if (request.pending_posts != 0) {
            request.stage = Stage::draining;
        } else {
            complete(request, Errc::ok);
        }
    }
    return has_moved;
}

void EngineState::post_done(const Completion& completion) {
    const RequestToken token{static_cast<std::uint64_t>(completion.id)};
    std::erase_if(held_scratch_, [token](const HeldScratch& held) { return held.owner == token; });
    Request* const request = requests.find(token);
    if (request == nullptr || request->pending_posts == 0) return;
    --request->pending_posts;
    if (request->stage == Stage::idle) return;
    if (!completion.status.ok()) {
        fail_request(*request, completion.status.code);
    } else if (request->stage == Stage::reading) {
        finish_read(*request);
    } else if (request->stage == Stage::draining && request->pending_posts == 0) {
        complete(*request, Errc::ok);
    }
}

void EngineState::send_control(Peer& peer, MessageHeader header, Bytes body) {
    if (peer.controls.empty() &&
        peer.endpoint->post_eager(peer.index, header, body) == Post::done) {
        note_posted(peer);
        return;
    }
    if (peer.has_departed) return;
    ControlMessage& message = peer.controls.emplace_back();
    message.header = header;
    message.size_bytes = static_cast<std::uint32_t>(body.size());
    if (!body.empty()) std::memcpy(message.body.data(), body.data(), body.size());
    add_to_backlog(peer);
}

void EngineState::add_to_backlog(Peer& peer) {
    if (peer.is_backlogged) return;
    peer.is_backlogged = true;
    backlogged_.push_back(&peer);
}

bool EngineState::flush(Peer& peer) {
    std::size_t posted = 0;
    while (posted < peer.controls.size()) {
        const ControlMessage& message = peer.controls[posted];
        const Bytes body{message.body.data(), message.size_bytes};
        if (peer.endpoint->post_eager(peer.index, message.header, body) != Post::done) break;
        ++posted;
    }
    const bool is_busy = posted < peer.controls.size();
    peer.controls.erase(
        peer.controls.begin(), peer.controls.begin() + static_cast<std::ptrdiff_t>(posted)
    );
    bool has_moved = posted != 0;
    if (has_moved) note_posted(peer);
    while (!is_busy && !peer.sends.is_empty()) {
        Request& request = peer.sends.front();
        peer.sends.pop_front();
        if (try_post(peer, request) == Posted::busy) {
            request.next = peer.sends.first;
            if (peer.sends.first == nullptr) peer.sends.last = &request;
            peer.sends.first = &request;
            break;
        }
        has_moved = true;
    }
    return has_moved;
}

bool EngineState::advance_backlog() {
    bool has_moved = false;
    std::erase_if(backlogged_, [&](Peer* peer) {
        has_moved = flush(*peer) || has_moved;
        peer->is_backlogged = !peer->controls.empty() || !peer->sends.is_empty();
        return !peer->is_backlogged;
    });
    return has_moved;
}

}  // namespace dlrt
