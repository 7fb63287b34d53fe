// SPDX-License-Identifier: Apache-2.0
/// The receiver's half of the protocols: what arrives is matched and goes straight to the user's
/// buffer; for a message that was only announced, the receiver chooses how its data comes.
#include "runtime/base/stream_copy.hpp"
#include "runtime/engine_state.hpp"

#include <algorithm>
#include <cstring>

namespace dlrt {
namespace {

/// Bytes read out of a sender's memory per round of progress: about 0.1 ms.
constexpr std::uint64_t read_slice_bytes = 2u << 20;
/// From here on memcpy may turn to string instructions, which crawl when the user's buffer lies a
/// little above the transport's modulo 4 KiB, as every large one of malloc does.
constexpr std::uint64_t plain_copy_bytes_min = 1024;
/// Credit goes back when that much is owed.
constexpr std::uint64_t credit_batch_bytes = eager_credit_bytes / 4;

}  // namespace

inline void EngineState::give_credit(Peer& peer, std::uint64_t size_bytes) {
    peer.owed_bytes += std::max(size_bytes, credit_per_message_bytes);
    if (peer.owed_bytes < credit_batch_bytes) return;
    send_control(peer, control_header(WireKind::credit, peer.owed_bytes), {});
    peer.owed_bytes = 0;
}

inline Request& EngineState::new_receive(Route from, const Buffer& buffer) {
    const Layout& layout = **buffer.layout;
    Request& request = requests.acquire();
    request.key = {from.context, from.peer, from.tag};
    request.kind = RequestKind::receive;
    request.address = static_cast<std::byte*>(buffer.address);
    request.capacity_bytes = layout.size_bytes() * buffer.count;
    if (layout.is_contiguous()) {
        request.address += layout.true_lower_bound_bytes();
    } else {
        request.extra = *buffer.layout;
    }
    return request;
}

inline void EngineState::begin_receive(Request& request) {
    request.message_bytes = 0;
    request.found_source = no_rank;
    request.found_tag = any_tag;
    request.is_done.store(false, std::memory_order_relaxed);
    if (UnexpectedMessage* const waiting = matcher.take_unexpected(request.key);
        waiting != nullptr) {
        receive_matched(request, *static_cast<MatchedMessage*>(waiting));
        return;
    }
    request.stage = Stage::posted;
    matcher.post(request);
}

Request& EngineState::post_receive(Route from, const Buffer& buffer) {
    Request& request = new_receive(from, buffer);
    ++starts_;
    request.is_started = true;
    begin_receive(request);
    return request;
}

Request& EngineState::post_checked_receive(Route from, const Buffer& buffer, std::uint32_t check) {
    Request& request = new_receive(from, buffer);
    request.set_check(check);
    ++starts_;
    request.is_started = true;
    begin_receive(request);
    return request;
}

Request& EngineState::make_receive(Route from, const Buffer& buffer) {
    return new_receive(from, buffer);
}

void EngineState::start_receive(Request& request) {
    begin_receive(request);
}

void EngineState::receive_matched(Request& request, MatchedMessage& message) {
    ++starts_;
    request.is_done.store(false, std::memory_order_relaxed);
    const MatchKey found = message.key;
    const std::uint32_t check = message.check;
    if (message.is_announced()) {
        RtsBody body{.size_bytes = message.size_bytes, .sender = message.sender, .memory = {}};
        if (message.block != nullptr) std::memcpy(&body.memory, message.block, sizeof body.memory);
        store.release(message);
        if (disagrees(request, check)) return refuse_announced(request, found, body);
        take_announced(request, found, body);
        return;
    }
    const std::uint64_t size_bytes = message.size_bytes;
    if (disagrees(request, check)) {
        end_in_mismatch(request, found);
    } else {
        take_eager(request, found, message.payload());
    }
    store.release(message);
    give_credit(peer_of(found.source), size_bytes);
}

inline void EngineState::take_eager(Request& request, const MatchKey& found, Bytes payload) {
    request.found_source = found.source;
    request.found_tag = found.tag;
    request.message_bytes = payload.size();
    if (payload.size() == 8 && request.capacity_bytes >= 8 && request.extra.index() == 0) {
        std::memcpy(request.address, payload.data(), 8);
    } else {
        place(request, 0, payload.first(std::min(payload.size(), request.capacity_bytes)));
    }
    end_round(request, payload.size() > request.capacity_bytes ? Errc::truncate : Errc::ok);
}

inline void EngineState::on_eager(Peer& peer, const Arrival& arrival) {
    const MatchKey key{ContextId{arrival.header.first}, peer.rank, tag_of(arrival.header)};
    if (PostedReceive* const receive = matcher.match(key); receive != nullptr) {
        auto& request = *static_cast<Request*>(receive);
        if (disagrees(request, check_of(arrival.header))) [[unlikely]] {
            end_in_mismatch(request, key);
        } else {
            take_eager(request, key, arrival.payload);
        }
        give_credit(peer, arrival.payload.size());
        return;
    }
    MatchedMessage& message = store.add_eager(key, arrival.payload);
    message.check = check_of(arrival.header);
    matcher.add_unexpected(message);
    waiter.note_event();
}

void EngineState::dispatch(EndpointSlot& slot, const Arrival& arrival) {
    Peer& peer = *slot.peer_of_index[static_cast<std::size_t>(arrival.peer)];
    const WireKind kind = kind_of(arrival.header);
    if (kind == WireKind::eager) [[likely]] {
        on_eager(peer, arrival);
        return;
    }
    const RequestToken token{arrival.header.first};
    switch (kind) {
        case WireKind::eager:
            return;
        case WireKind::fragment:
            on_fragment(arrival);
            return;
        case WireKind::rts:
            on_rts(peer, arrival);
            return;
        case WireKind::cts:
            on_cts(arrival.payload, token);
            return;
        case WireKind::fin:
            on_fin(token);
            return;
        case WireKind::credit:
            peer.credit_bytes += arrival.header.first;
            return;
        case WireKind::inquiry:
            on_inquiry(peer, arrival.header);
            return;
        case WireKind::report:
            on_report(peer, arrival);
            return;
    }
}

void EngineState::on_rts(Peer& peer, const Arrival& arrival) {
    const MatchKey key{ContextId{arrival.header.first}, peer.rank, tag_of(arrival.header)};
    const auto body = body_of<RtsBody>(arrival.payload);
    if (PostedReceive* const receive = matcher.match(key); receive != nullptr) {
        auto& request = *static_cast<Request*>(receive);
        if (disagrees(request, check_of(arrival.header))) {
            return refuse_announced(request, key, body);
        }
        take_announced(request, key, body);
        return;
    }
    MatchedMessage& message = store.add_announced(key, body);
    message.check = check_of(arrival.header);
    matcher.add_unexpected(message);
    waiter.note_event();
}

void EngineState::end_in_mismatch(Request& request, const MatchKey& found) {
    request.found_source = found.source;
    request.found_tag = found.tag;
    end_round(request, Errc::mismatch);
}

void EngineState::refuse_announced(Request& request, const MatchKey& found, const RtsBody& body) {
    const auto sender = static_cast<std::uint64_t>(body.sender);
    send_control(peer_of(found.source), control_header(WireKind::fin, sender), {});
    end_in_mismatch(request, found);
}

void EngineState::take_announced(Request& request, const MatchKey& found, const RtsBody& body) {
    Peer& peer = peer_of(found.source);
    request.found_source = found.source;
    request.found_tag = found.tag;
    request.message_bytes = body.size_bytes;
    request.moved_bytes = 0;
    request.set_other_side(body.sender);
    const std::uint64_t wanted = request.wanted_bytes();
    if (wanted == 0) {
        finish_read(request);
        return;
    }
    if (request.gapped() == nullptr && should_read(peer, body.memory, wanted)) {
        request.extra = body.memory;
        request.stage = Stage::reading;
        reading_.push_back(request);
        return;
    }
    ask_for_stream(peer, request);
}

bool EngineState::should_read(
    const Peer& peer, const RemoteMemory& memory, std::uint64_t size_bytes
) const {
    if (memory.address == 0) return false;
    Protocol preferred = Protocol::rendezvous_read;
    if (!peer.endpoint->can_load(peer.index, memory, size_bytes)) {
        if (!peer.can_read) return false;
        const LargeProtocol usual = peer.endpoint->choose_large(
            peer.index, size_bytes, traffic_with(peer)
        );
        if (usual == LargeProtocol::rendezvous_stream) preferred = Protocol::rendezvous_stream;
    }
    return choose_protocol(protocol_rules_, size_bytes, preferred, false) ==
           Protocol::rendezvous_read;
}

Traffic EngineState::traffic_with(const Peer& peer) const {
    if (shares_core_) return Traffic::all_busy;
    return peer.rendezvous_sends != 0 ? Traffic::exchange : Traffic::one_way;
}

void EngineState::ask_for_stream(Peer& peer, Request& request) {
    const auto sender = static_cast<std::uint64_t>(request.other_side());
    const CtsBody body{
        .receiver = request.token(),
        .begin_bytes = request.moved_bytes,
        .end_bytes = request.wanted_bytes(),
    };
    request.stage = Stage::filling;
    ++filling_count_;
    send_control(peer, control_header(WireKind::cts, sender), bytes_of(body));
}

void EngineState::on_fragment(const Arrival& arrival) {
    Request* const request = requests.find(RequestToken{arrival.header.first});
    if (request == nullptr || request->stage != Stage::filling) return;
    const std::uint64_t left = request->wanted_bytes() - request->moved_bytes;
    const Bytes piece = arrival.payload.first(std::min(arrival.payload.size(), left));
    place(*request, request->moved_bytes, piece);
    request->moved_bytes += piece.size();
    if (request->moved_bytes < request->wanted_bytes()) return;
    complete(
        *request, request->message_bytes > request->capacity_bytes ? Errc::truncate : Errc::ok
    );
}

void EngineState::place(Request& request, std::uint64_t begin, Bytes payload) {
    if (payload.empty()) return;
    const LayoutRef* const layout = request.gapped();
    if (layout == nullptr) {
        if (payload.size() < plain_copy_bytes_min) {
            std::memcpy(request.address + begin, payload.data(), payload.size());
        } else {
            plain_copy(request.address + begin, payload.data(), payload.size());
        }
        return;
    }
    const std::uint64_t count = request.capacity_bytes / (*layout)->size_bytes();
    unpack(**layout, count, request.address, begin, payload);
}

bool EngineState::advance_reads() {
    // All that one slice holds, so that a single test completes small messages that lie ready.
    std::uint64_t budget_bytes = read_slice_bytes;
    bool has_moved = false;
    while (!reading_.is_empty()) {
        Request& request = reading_.front();
        Peer& peer = peer_of(request.found_source);
        const std::uint64_t left = request.wanted_bytes() - request.moved_bytes;
        const std::uint64_t size = std::min(left, read_slice_bytes);
        if (size > budget_bytes) break;
        RemoteMemory source = *std::get_if<RemoteMemory>(&request.extra);
        source.address += request.moved_bytes;
        const Post post = peer.endpoint->post_get(
            peer.index, source, {request.address + request.moved_bytes, size},
            OperationId{static_cast<std::uint64_t>(request.token())}
        );
        if (post == Post::busy) break;
        reading_.pop_front();
        has_moved = true;
        budget_bytes -= size;
        if (post == Post::done) {
            finish_read(request);
        } else if (post == Post::pending) {
            ++request.pending_posts;
            ++peer.slot->pending_posts;
        } else {
            peer.can_read = false;
            request.extra = std::monostate{};
            ask_for_stream(peer, request);
        }
    }
    return has_moved;
}

void EngineState::finish_read(Request& request) {
    const std::uint64_t wanted = request.wanted_bytes();
    request.moved_bytes += std::min(wanted - request.moved_bytes, read_slice_bytes);
    if (request.moved_bytes < wanted) {
        reading_.push_back(request);
        return;
    }
    const auto sender = static_cast<std::uint64_t>(request.other_side());
    send_control(peer_of(request.found_source), control_header(WireKind::fin, sender), {});
    request.extra = std::monostate{};
    complete(request, request.message_bytes > wanted ? Errc::truncate : Errc::ok);
}

/// Messages wait in a context, and one of its receives can be started once more.
bool EngineState::has_receive_to_come(ContextId context) {
    bool has_waiting = false;
    matcher.visit_waiting(context, [&has_waiting](const MatchKey&) {
        has_waiting = true;
        return false;
    });
    bool has_receive = false;
    if (!has_waiting) return false;
    requests.for_each([&has_receive, context](const Request& request) {
        if (!request.is_in_use() || request.kind != RequestKind::receive) return;
        // Requests of other contexts are other threads', which write the flags without the lock.
        if (request.key.context != context) return;
        has_receive = has_receive || request.persistence == Persistence::persistent;
    });
    return has_receive;
}

std::uint64_t EngineState::drop_context(ContextId context) {
    ++starts_;
    // Calls are known by the number of the user's messages, which is one less.
    calls_elsewhere_.forget(ContextId{static_cast<std::uint64_t>(context) - 1});
    if (has_receive_to_come(context)) return 0;
    std::uint64_t count = 0;
    while (UnexpectedMessage* const waiting = matcher.drain_context(context)) {
        auto& message = *static_cast<MatchedMessage*>(waiting);
        Peer& peer = peer_of(message.key.source);
        if (message.is_announced()) {
            const auto sender = static_cast<std::uint64_t>(message.sender);
            send_control(peer, control_header(WireKind::fin, sender), {});
        } else {
            give_credit(peer, message.size_bytes);
        }
        store.release(message);
        ++count;
    }
    return count;
}

}  // namespace dlrt
