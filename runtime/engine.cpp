// SPDX-License-Identifier: Apache-2.0
/// The calls of the engine: each takes the lock, starts something, and perhaps waits.
#include "runtime/engine.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/engine_state.hpp"
#include "runtime/flight_recorder.hpp"

#include <algorithm>
#include <sched.h>

namespace dlrt {
namespace {

bool is_done(void* request) {
    return is_complete(*static_cast<const Request*>(request));
}

void wait_for(EngineState& state, Request& request) {
    // The quickest wake-up there is; the waiter goes on when nothing comes soon.
    if (!state.waiter.is_multiple()) {
        for (std::uint32_t round = state.quick_polls(); round != 0; --round) {
            if (request.is_done.load(std::memory_order_relaxed)) break;
            state.progress();
        }
    }
    state.waiter.wait({is_done, &request});
    request.is_started = false;
}

/// Ends a blocking operation: its outcome, and the request goes back.
Status finish(EngineState& state, Request& request) {
    const Status outcome = request.error == 0 ? Status{} : outcome_of(request);
    state.requests.release(request);
    return outcome;
}

[[gnu::noinline]] Status send_and_wait(
    EngineState& state, SendMode mode, Route to, const ConstBuffer& buffer
) {
    FlightRecorder* const flight = state.waiter.flight_recorder();
    const std::uint64_t reopened = flight != nullptr ? flight->reopen()
                                                     : FlightRecorder::no_operation;
    Request& request = state.make_send(mode, to, buffer);
    state.start(request);
    wait_for(state, request);
    const Status outcome = finish(state, request);
    if (reopened != FlightRecorder::no_operation) flight->finish(reopened);
    return outcome;
}

MatchKey key_of(Route from) {
    return {from.context, from.peer, from.tag};
}

MessageStatus status_of(const MatchedMessage& message) {
    MessageStatus status;
    status.source = message.key.source;
    status.tag = message.key.tag;
    status.size_bytes = message.size_bytes;
    return status;
}

enum class Take : std::uint8_t { no, yes };

/// A probe in flight. True once there is a message, or can't be one any more.
struct Probe {
    EngineState* state;
    MatchKey key;
    Take take;
    MatchedMessage* found = nullptr;
    Errc error = Errc::ok;

    bool look() {
        if (found != nullptr) return true;
        UnexpectedMessage* const message = take == Take::yes ? state->matcher.take_unexpected(key)
                                                             : state->matcher.find_unexpected(key);
        found = static_cast<MatchedMessage*>(message);
        if (found != nullptr) return true;
        if (state->has_departed(key.source)) {
            error = Errc::peer_lost;
            state->note_missed(key.source);
        }
        if (state->has_seen_abort()) error = Errc::aborted;
        if (error == Errc::ok) state->note_probed(key.source);
        return error != Errc::ok;
    }
    static bool is_over(void* waiting_probe) {
        Probe& probe = *static_cast<Probe*>(waiting_probe);
        if (probe.look()) return true;
        if (probe.key.source != any_source || !probe.state->is_left_alone()) return false;
        probe.error = Errc::peer_lost;
        probe.state->note_missed_by_all();
        return true;
    }

    void wait() {
        state->begin_probe(key.source);
        state->waiter.wait({is_over, this});
        state->end_probe(key.source);
    }

    void fill(MessageStatus& status) const {
        if (found != nullptr) status = status_of(*found);
        if (error == Errc::ok) return;
        status = {};
        if (error == Errc::peer_lost && key.source == any_source) {
            status.error = fail(
                error, "probe of any rank, tag {}: all others have ended without finalizing",
                key.tag
            );
        } else if (error == Errc::peer_lost) {
            status.error = fail(
                error, "probe of world rank {}, tag {}: that rank {}", key.source, key.tag,
                state->departure_of(key.source)
            );
        } else {
            status.error = fail(error, "probe of tag {}: {}", key.tag, errc_description(error));
        }
    }
};

struct RequestSpan {
    std::span<Request* const> requests;
    std::size_t done_count = 0;

    static bool are_all_done(void* self) {
        auto& span = *static_cast<RequestSpan*>(self);
        const std::size_t count = span.requests.size();
        while (span.done_count < count) {
            const Request* const request = span.requests[span.done_count];
            if (request != nullptr && !is_complete(*request)) return false;
            ++span.done_count;
        }
        return true;
    }

    static bool is_any_done(void* self) {
        bool has_active = false;
        for (const Request* request : static_cast<RequestSpan*>(self)->requests) {
            if (request == nullptr || !is_active(*request)) continue;
            if (is_complete(*request)) return true;
            has_active = true;
        }
        return !has_active;
    }
};

}  // namespace

Engine::Engine(Options options) : state_(std::make_unique<EngineState>(std::move(options))) {
}

Engine::~Engine() = default;

void Engine::set_thread_mode(ThreadMode mode) {
    state_->waiter.set_thread_mode(mode);
}

Status Engine::send(SendMode mode, Route to, const ConstBuffer& buffer) {
    const EngineLock lock(state_->waiter);
    if (state_->try_send_eager(mode, to, buffer)) return {};
    return send_and_wait(*state_, mode, to, buffer);
}

Status Engine::recv(Route from, const Buffer& buffer, MessageStatus& status) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->post_receive(from, buffer);
    wait_for(*state_, request);
    status = dlrt::status_of(request);
    return finish(*state_, request);
}

Status Engine::sendrecv(
    Route to, const ConstBuffer& source, Route from, const Buffer& target, MessageStatus& status
) {
    const EngineLock lock(state_->waiter);
    Request& receive = state_->post_receive(from, target);
    Status sent;
    if (!state_->try_send_eager(SendMode::standard, to, source)) {
        Request& send = state_->make_send(SendMode::standard, to, source);
        state_->start(send);
        wait_for(*state_, send);
        sent = finish(*state_, send);
    }
    wait_for(*state_, receive);
    status = dlrt::status_of(receive);
    const Status received = finish(*state_, receive);
    return received.ok() ? sent : received;
}

Request* Engine::isend(SendMode mode, Route to, const ConstBuffer& buffer) {
    const EngineLock lock(state_->waiter);
    return &state_->post_send(mode, to, buffer);
}

Request* Engine::irecv(Route from, const Buffer& buffer) {
    const EngineLock lock(state_->waiter);
    return &state_->post_receive(from, buffer);
}

Request* Engine::send_init(SendMode mode, Route to, const ConstBuffer& buffer) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->make_send(mode, to, buffer);
    request.persistence = Persistence::persistent;
    return &request;
}

Request* Engine::recv_init(Route from, const Buffer& buffer) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->make_receive(from, buffer);
    request.persistence = Persistence::persistent;
    return &request;
}

Request* Engine::without_peer(RequestKind kind, Persistence persistence) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->requests.acquire();
    request.key.source = no_rank;
    request.kind = kind;
    request.persistence = persistence;
    request.is_started = persistence == Persistence::once;
    return &request;
}

Status Engine::start(Request* request) {
    const EngineLock lock(state_->waiter);
    if (!is_persistent(*request))
        return fail(Errc::request, "start: the request is not persistent");
    if (is_active(*request)) return fail(Errc::request, "start: the request is active already");
    state_->start(*request);
    return {};
}

bool Engine::test(Request* request) {
    if (!is_complete(*request)) {
        poll();
        if (!is_complete(*request)) return false;
    }
    request->is_started = false;
    return true;
}

void Engine::wait(Request* request) {
    if (!is_complete(*request)) {
        const EngineLock lock(state_->waiter);
        state_->waiter.wait({is_done, request});
    }
    request->is_started = false;
}

void Engine::wait_any(std::span<Request* const> requests) {
    RequestSpan span{requests};
    if (RequestSpan::is_any_done(&span)) return;
    const EngineLock lock(state_->waiter);
    state_->waiter.wait({RequestSpan::is_any_done, &span});
}

void Engine::wait_until_complete(std::span<Request* const> requests) {
    RequestSpan span{requests};
    if (RequestSpan::are_all_done(&span)) return;
    const EngineLock lock(state_->waiter);
    state_->waiter.wait({RequestSpan::are_all_done, &span});
}

void Engine::wait_all(std::span<Request* const> requests) {
    wait_until_complete(requests);
    for (Request* request : requests) {
        if (request != nullptr) request->is_started = false;
    }
}

void Engine::wait_until(const std::function<bool()>& done) {
    struct Question {
        const std::function<bool()>* done;
        static bool is_true(void* self) { return (*static_cast<Question*>(self)->done)(); }
    };
    Question question{&done};
    const EngineLock lock(state_->waiter);
    state_->waiter.wait({Question::is_true, &question, Condition::Asked::by_its_thread});
}

Errc Engine::wait_for_host(const HostEvent& event, WorldRank& lost) {
    HostWait wait{state_.get(), &event};
    const EngineLock lock(state_->waiter);
    state_->wait_for(wait);
    lost = wait.lost;
    return wait.error;
}

void Engine::ring(std::uint32_t local_rank) {
    state_->ring(local_rank);
}

void Engine::write_doorbell_descriptor(std::uint32_t local_rank) {
    state_->write_doorbell_descriptor(local_rank);
}

std::uint32_t Engine::quick_polls() const {
    return state_->quick_polls();
}

HostSegment* Engine::segment() const {
    return state_->segment();
}

std::span<const WorldRank> Engine::world_rank_of_local() const {
    return state_->world_rank_of_local();
}

RingFence Engine::ring_fence() const {
    return state_->ring_fence();
}

Status Engine::cancel(Request* request) {
    const EngineLock lock(state_->waiter);
    if (request->kind != RequestKind::receive) {
        return fail(
            Errc::unsupported, "cancel: a send can't be cancelled; it ends when it is received"
        );
    }
    state_->cancel_receive(*request);
    return {};
}

void Engine::release(Request* request) {
    const EngineLock lock(state_->waiter);
    if (is_complete(*request)) {
        state_->release(*request);
    } else {
        request->is_released = true;
    }
}

void Engine::release_all(std::span<Request* const> requests) {
    const EngineLock lock(state_->waiter);
    for (Request* const request : requests) {
        if (request != nullptr) state_->release(*request);
    }
}

RequestPool& Engine::requests() {
    return state_->requests;
}

bool Engine::iprobe(Route from, MessageStatus& status) {
    poll();
    const EngineLock lock(state_->waiter);
    Probe probe{state_.get(), key_of(from), Take::no};
    if (!probe.look()) return false;
    probe.fill(status);
    return true;
}

void Engine::probe(Route from, MessageStatus& status) {
    const EngineLock lock(state_->waiter);
    Probe probe{state_.get(), key_of(from), Take::no};
    probe.wait();
    probe.fill(status);
}

MatchedMessage* Engine::improbe(Route from, MessageStatus& status) {
    poll();
    const EngineLock lock(state_->waiter);
    Probe probe{state_.get(), key_of(from), Take::yes};
    if (!probe.look()) return nullptr;
    probe.fill(status);
    return probe.found;
}

MatchedMessage* Engine::mprobe(Route from, MessageStatus& status) {
    const EngineLock lock(state_->waiter);
    Probe probe{state_.get(), key_of(from), Take::yes};
    probe.wait();
    probe.fill(status);
    return probe.found;
}

Request* Engine::imrecv(MatchedMessage* message, const Buffer& buffer) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->make_receive({}, buffer);
    request.is_started = true;
    state_->receive_matched(request, *message);
    return &request;
}

Status Engine::mrecv(MatchedMessage* message, const Buffer& buffer, MessageStatus& status) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->make_receive({}, buffer);
    state_->receive_matched(request, *message);
    wait_for(*state_, request);
    status = dlrt::status_of(request);
    return finish(*state_, request);
}

bool Engine::progress() {
    const EngineLock lock(state_->waiter);
    if (state_->progress()) return true;
    state_->look_around();
    return false;
}

void Engine::poll() {
    {
        const EngineLock lock(state_->waiter);
        if (state_->progress()) return;
        state_->look_around();
        if (!state_->should_yield_after_poll()) return;
    }
    ::sched_yield();
}

void Engine::help() {
    state_->waiter.help();
}

void Engine::stop_helping() {
    state_->waiter.stop_helping();
}

std::uint64_t Engine::drop_context(ContextId context) {
    const EngineLock lock(state_->waiter);
    return state_->drop_context(context);
}

bool Engine::has_outgoing() const {
    const EngineLock lock(state_->waiter);
    return state_->has_outgoing();
}

std::uint64_t Engine::unexpected_bytes() const {
    const EngineLock lock(state_->waiter);
    return state_->store.used_bytes();
}

}  // namespace dlrt
