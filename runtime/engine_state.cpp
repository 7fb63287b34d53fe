// SPDX-License-Identifier: Apache-2.0
/// Progress, completion and failure: what the two halves of the protocols share.
#include "runtime/engine_state.hpp"

#include "runtime/base/log.hpp"
#include "runtime/host_cells.hpp"

#include <algorithm>
#include <utility>

namespace dlrt {
EngineState::EngineState(Engine::Options options)
    : requests(options.first_request_generation),
      waiter(*this, options),
      rank_(options.rank),
      segment_(options.segment),
      world_rank_of_local_(std::move(options.world_rank_of_local)),
      ring_fence_(options.ring_fence),
      write_doorbell_descriptor_(std::move(options.write_doorbell_descriptor)),
      shares_core_(options.wait_budget.spin_rounds == 0),
      poll_pace_(options.wait_budget.is_core_shared) {
    if (segment_ != nullptr) {
        const CellAreas areas(segment_->collective_area(), segment_->header().local_size);
        notes_ = &areas.notes();
        disagreements_seen_ = notes_->disagreements.load(std::memory_order_relaxed);
    }
    for (auto& endpoint : options.endpoints) {
        slots_.emplace_back().endpoint = std::move(endpoint);
    }
    open_peers(options);
}

void EngineState::open_peers(const Engine::Options& options) {
    protocol_rules_ = options.protocol_rules;
    peers_.resize(options.routes.size());
    for (EndpointSlot& slot : slots_) slot.is_self_only = true;
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
        const Engine::PeerRoute& route = options.routes[rank];
        EndpointSlot& slot = slots_[route.endpoint];
        const Capabilities& capabilities = slot.endpoint->capabilities();
        Peer& peer = peers_[rank];
        peer.endpoint = slot.endpoint.get();
        peer.slot = &slot;
        peer.index = route.index;
        peer.rank = static_cast<WorldRank>(rank);
        peer.eager_bytes_max = std::min(
            capabilities.eager_bytes_max,
            options.eager_bytes_max.value_or(capabilities.eager_bytes_max)
        );
        peer.credit_bytes = eager_credit_bytes;
        peer.can_read = capabilities.can_get;
        if (peer.rank != rank_) slot.is_self_only = false;
        const auto index = static_cast<std::size_t>(route.index);
        if (slot.peer_of_index.size() <= index) slot.peer_of_index.resize(index + 1);
        slot.peer_of_index[index] = &peer;
    }
    for (const std::uint32_t endpoint : options.endpoints_elsewhere) {
        ways_elsewhere_.push_back(slots_[endpoint].endpoint.get());
    }
}

bool EngineState::progress() {
    starts_seen_ = starts_;
    bool has_moved = false;
    std::size_t arrived = 0;
    for (EndpointSlot& slot : slots_) {
        if (slot.is_self_only && !slot.was_posted) continue;
        const std::size_t count = slot.endpoint->poll(arrivals_);
        for (std::size_t i = 0; i < count; ++i) dispatch(slot, arrivals_[i]);
        arrived += count;
        if (count == 0) slot.was_posted = false;
        if (slot.pending_posts != 0) has_moved = take_completions(slot) || has_moved;
    }
    has_moved = has_moved || arrived != 0;
    if (!backlogged_.empty()) has_moved = advance_backlog() || has_moved;
    if (!streaming_.is_empty()) has_moved = advance_streams() || has_moved;
    if (!reading_.is_empty()) has_moved = advance_reads() || has_moved;
    if (!host_waits_.empty() && waiter.is_multiple()) has_moved = find_host_events() || has_moved;
    if (!tasks_.empty()) [[unlikely]]
        has_moved = advance_tasks() || has_moved;
    return has_moved;
}

bool EngineState::take_completions(EndpointSlot& slot) {
    std::array<Completion, batch> completions;
    const std::size_t count = slot.endpoint->poll_completions(completions);
    slot.pending_posts -= static_cast<std::uint32_t>(count);
    for (std::size_t i = 0; i < count; ++i) post_done(completions[i]);
    return count != 0;
}

bool EngineState::has_arrivals() {
    if (starts_ != starts_seen_) return true;
    if (segment_ != nullptr) {
        // Pairs with raise_abort() and mark_departed(), which ring after they have stored.
        if (segment_->header().departures.load(std::memory_order_acquire) != departures_seen_) {
            return true;
        }
        if (!has_seen_abort_ &&
            segment_->abort_cell().raised.load(std::memory_order_acquire) != 0) {
            return true;
        }
    }
    for (EndpointSlot& slot : slots_) {
        if (slot.endpoint->has_work()) return true;
    }
    const bool has_come = std::ranges::any_of(host_waits_, [](const HostWait* wait) {
        return !wait->is_told && wait->event->has_come();
    });
    return has_come || (has_calls_to_compare() && is_told_of_disagreement());
}

bool EngineState::has_unfinished_posts() const {
    return !backlogged_.empty() || !streaming_.is_empty() || !reading_.is_empty() ||
           has_unfinished_task_;
}

bool EngineState::needs_progress() const {
    const bool has_pending = std::any_of(
        slots_.begin(), slots_.end(),
        [](const EndpointSlot& slot) { return slot.pending_posts != 0; }
    );
    return has_outgoing() || matcher.posted_count() != 0 || filling_count_ != 0 ||
           !reading_.is_empty() || has_pending;
}

void EngineState::start(Request& request) {
    ++starts_;
    request.is_started = true;
    request.is_cancelled = false;
    request.error = 0;
    switch (request.kind) {
        case RequestKind::receive:
            return start_receive(request);
        case RequestKind::send:
        case RequestKind::synchronous_send:
            return start_send(request);
        case RequestKind::task:
            return start_task(request);
    }
}

void EngineState::complete(Request& request, Errc error) {
    if (request.kind <= RequestKind::synchronous_send) {
        --active_sends_;
        if (request.stage >= Stage::announced) --peer_of(request.key.source).rendezvous_sends;
    } else if (request.stage == Stage::filling) {
        --filling_count_;
    }
    end_round(request, error);
}

void EngineState::cancel_receive(Request& request) {
    if (request.stage != Stage::posted) return;
    request.is_cancelled = true;
    fail_request(request, Errc::ok);
}

void EngineState::fail_request(Request& request, Errc error) {
    switch (request.stage) {
        case Stage::posted:
            matcher.remove(request);
            break;
        case Stage::backlog:
            peer_of(request.key.source).sends.remove(request);
            break;
        case Stage::streaming:
            streaming_.remove(request);
            break;
        case Stage::reading:
            reading_.remove(request);
            break;
        case Stage::idle:
        case Stage::announced:
        case Stage::draining:
        case Stage::filling:
            break;
    }
    complete(request, error);
}

bool EngineState::fail_those_who_need(WorldRank rank, Errc error) {
    bool has_failed = false;
    requests.for_each([&](Request& request) {
        if (request.stage == Stage::idle) return;
        const bool is_matched = request.stage == Stage::reading || request.stage == Stage::filling;
        const WorldRank needed = is_matched ? request.found_source : request.key.source;
        if (rank != any_source && needed != rank) return;
        if (error == Errc::peer_lost && !is_persistent(request)) {
            const auto departed = departed_elsewhere_.find(rank);
            if (departed != departed_elsewhere_.end()) request.extra = &departed->second;
        }
        fail_request(request, error);
        has_failed = true;
    });
    return has_failed;
}

void EngineState::note_missed(WorldRank rank) {
    const auto own = std::find(world_rank_of_local_.begin(), world_rank_of_local_.end(), rank_);
    if (segment_ == nullptr || own == world_rank_of_local_.end()) return;
    const auto local_rank = static_cast<std::uint32_t>(own - world_rank_of_local_.begin());
    std::uint32_t none = 0;
    // Pairs with the daemon's exchange.
    segment_->life(local_rank)
        .missed_rank.compare_exchange_strong(
            none, static_cast<std::uint32_t>(rank) + 1, std::memory_order_acq_rel
        );
}

bool HostWait::is_over(void* wait) {
    HostWait& self = *static_cast<HostWait*>(wait);
    if (self.event->has_come()) return true;
    if (self.state->has_seen_abort()) {
        self.error = Errc::aborted;
        return true;
    }
    self.lost = self.state->find_lost(*self.event);
    if (self.lost == no_rank) return false;
    self.error = Errc::peer_lost;
    return true;
}

WorldRank EngineState::find_lost(const HostEvent& event) const {
    if (departures_seen_ == 0) return no_rank;
    for (const WorldRank rank : world_rank_of_local_) {
        if (has_departed(rank) && event.needs(rank)) return rank;
    }
    return no_rank;
}

void EngineState::wait_for(HostWait& wait) {
    host_waits_.push_back(&wait);
    waiter.wait({HostWait::is_over, &wait});
    std::erase(host_waits_, &wait);
    if (wait.error == Errc::peer_lost) note_missed(wait.lost);
}

bool EngineState::find_host_events() {
    bool has_found = false;
    for (HostWait* wait : host_waits_) {
        if (wait->is_told || !HostWait::is_over(wait)) continue;
        wait->is_told = true;
        has_found = true;
    }
    if (has_found) waiter.note_event();
    return has_found;
}

void EngineState::ring(std::uint32_t local_rank) {
    if (segment_->doorbell(local_rank).ring(ring_fence_) == SleepKind::descriptor) {
        write_doorbell_descriptor_(local_rank);
    }
}

void EngineState::look_around() {
    watch_awaited();
    if (segment_ == nullptr) return;
    if (segment_->abort_cell().raised.load(std::memory_order_relaxed) == 0 &&
        segment_->header().departures.load(std::memory_order_relaxed) == 0 &&
        ways_elsewhere_.empty()) {
        return;
    }
    static_cast<void>(find_departed());
}

void EngineState::check_world() {
    watch_awaited();
    // Where that fails something, the wait may be over; its thread may still send to itself then.
    if (find_departed()) return;
    // Several threads could send to each other.
    if (!has_departures() || waiter.is_multiple() || !are_all_others_gone()) return;
    is_left_alone_ = true;
    bool has_failed = false;
    requests.for_each([&](Request& request) {
        if (request.stage == Stage::idle || request.kind != RequestKind::receive) return;
        if (request.key.source != any_source || request.found_source != no_rank) return;
        fail_request(request, Errc::peer_lost);
        has_failed = true;
    });
    if (has_failed) note_missed_by_all();
}

void EngineState::watch_awaited() {
    const bool is_time = std::ranges::any_of(ways_elsewhere_, [](Endpoint* endpoint) {
        return endpoint->is_time_to_watch();
    });
    if (!is_time) return;
    std::vector<bool> is_awaited(peers_.size());
    for (const WorldRank source : probing_) note_probed(source);
    bool is_any_awaited = std::exchange(is_any_probed_for_, false);
    requests.for_each([&](Request& request) {
        if (request.stage != Stage::posted) return;
        if (request.key.source == any_source) {
            is_any_awaited = true;
        } else {
            is_awaited[static_cast<std::size_t>(request.key.source)] = true;
        }
    });
    for (Peer& peer : peers_) {
        const bool is_probed_for = std::exchange(peer.is_probed_for, false);
        const bool is_now = is_probed_for || is_awaited[static_cast<std::size_t>(peer.rank)];
        // Whom this rank waits for only now and then needs no connection for that.
        if (std::exchange(peer.was_awaited, is_now) && is_now) peer.endpoint->watch(peer.index);
    }
    if (std::exchange(was_any_awaited_, is_any_awaited) && is_any_awaited) watch_some_of_all();
}

/// A message may come from any rank as long as one is left, so it will do to watch some: when they
/// go, others take their places. Each rank has others to watch, so that each is watched.
void EngineState::watch_some_of_all() {
    constexpr std::size_t watched_max = 128;
    std::size_t watched = 0;
    for (std::size_t i = 1; i < peers_.size() && watched < watched_max; ++i) {
        Peer& peer = peers_[(static_cast<std::size_t>(rank_) + i) % peers_.size()];
        if (peer.has_departed || !is_elsewhere(peer.rank)) continue;
        peer.endpoint->watch(peer.index);
        ++watched;
    }
}

bool EngineState::are_all_others_gone() const {
    return std::ranges::all_of(peers_, [this](const Peer& peer) {
        return peer.rank == rank_ || peer.has_departed;
    });
}

void EngineState::note_missed_by_all() {
    if (peers_.size() > 1) note_missed(rank_ == 0 ? 1 : 0);
}

bool EngineState::find_departed() {
    if (segment_ == nullptr) return false;
    bool has_failed = false;
    if (segment_->abort_cell().raised.load(std::memory_order_acquire) != 0) {
        has_seen_abort_ = true;
        has_failed = fail_those_who_need(any_source, Errc::aborted);
    }
    find_departed_elsewhere();
    // Pairs with mark_departed(): who is counted is marked.
    const std::uint32_t departures = segment_->header().departures.load(std::memory_order_acquire);
    const bool has_grown = std::exchange(departures_seen_, departures) != departures;
    if (!has_departures()) return has_failed;
    // What the departed sent before is there already; it must be taken before anybody is failed.
    for (int round = 0; round < 1000 && progress();) ++round;
    for (std::size_t local = 0; local < world_rank_of_local_.size(); ++local) {
        const LifeCell& cell = segment_->life(static_cast<std::uint32_t>(local));
        const auto life = static_cast<RankLife>(cell.life.load(std::memory_order_acquire));
        if (life != RankLife::departed) continue;
        has_failed = fail_for(world_rank_of_local_[local]) || has_failed;
    }
    if (has_grown && segment_->header().job_size != 0) {
        for (const Peer& peer : peers_) {
            const auto rank = static_cast<std::uint32_t>(peer.rank);
            if (!segment_->has_departed_elsewhere(rank)) continue;
            note_departed_elsewhere(peer.rank, "on another host has ended without finalizing");
        }
    }
    for (const auto& [rank, how] : departed_elsewhere_) has_failed = fail_for(rank) || has_failed;
    return has_failed;
}

bool EngineState::fail_for(WorldRank departed) {
    if (departed == rank_) return false;
    peer_of(departed).has_departed = true;
    if (!fail_those_who_need(departed, Errc::peer_lost)) return false;
    note_missed(departed);
    return true;
}

void EngineState::find_departed_elsewhere() {
    for (Endpoint* const endpoint : ways_elsewhere_) {
        while (auto loss = endpoint->take_loss()) {
            const auto slot = std::ranges::find_if(slots_, [endpoint](const EndpointSlot& one) {
                return one.endpoint.get() == endpoint;
            });
            const Peer& peer = *slot->peer_of_index[static_cast<std::size_t>(loss->peer)];
            note_departed_elsewhere(peer.rank, "can't be reached any more: " + loss->reason);
        }
    }
}

void EngineState::note_departed_elsewhere(WorldRank rank, std::string how) {
    // The first that is said stays: requests may point to it.
    const auto [departed, is_new] = departed_elsewhere_.emplace(rank, std::move(how));
    if (is_new) {
        // Probes of other threads may be over by it.
        waiter.note_event();
        log(LogLevel::info, "engine", "world rank {} {}", rank, departed->second);
        // Nobody is there for what still waits to be said to it.
        peer_of(rank).controls.clear();
    }
}

std::string_view EngineState::departure_of(WorldRank rank) const {
    const auto departed = departed_elsewhere_.find(rank);
    if (departed != departed_elsewhere_.end()) return departed->second;
    return "has ended without finalizing";
}

}  // namespace dlrt
