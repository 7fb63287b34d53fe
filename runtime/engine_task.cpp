// SPDX-License-Identifier: Apache-2.0
/// Tasks: started, advanced with all other progress, completed like messages.
#include "runtime/engine_task.hpp"

#include "runtime/engine_state.hpp"
#include "runtime/flight_recorder.hpp"

#include <algorithm>

namespace dlrt {
namespace {

/// A blocking call's task, on its way to the end.
struct Round {
    EngineTask* task;
    EngineInside* inside;
    bool is_over = false;

    static bool has_ended(void* self) {
        auto& round = *static_cast<Round*>(self);
        while (!round.is_over) {
            const EngineTask::Progress progress = round.task->advance(*round.inside);
            if (progress == EngineTask::Progress::waiting) return false;
            round.is_over = progress == EngineTask::Progress::over;
        }
        return true;
    }
};

/// Of two operations' numbers, which go round; a record is at most as old as the ring is long.
bool is_at_or_after(std::int32_t number, std::int32_t other) {
    const std::uint32_t ahead = static_cast<std::uint32_t>(number) -
                                static_cast<std::uint32_t>(other);
    return ahead < std::uint32_t{1} << 29;
}

}  // namespace

// Tasks of a surface call these.
DLRT_CORE Request& EngineInside::isend(
    const Route& to, const ConstBuffer& buffer, std::uint32_t check
) {
    return state_.post_checked_send(to, buffer, check);
}

DLRT_CORE Request& EngineInside::irecv(
    const Route& from, const Buffer& buffer, std::uint32_t check
) {
    return state_.post_checked_receive(from, buffer, check);
}

DLRT_CORE void EngineInside::release(Request& request) {
    if (is_complete(request)) {
        state_.release(request);
    } else {
        request.is_released = true;
    }
}

void EngineInside::cancel(Request& receive) {
    state_.cancel_receive(receive);
}

void EngineInside::drop_context(ContextId context) {
    static_cast<void>(state_.drop_context(context));
}

std::optional<FlightEntry> EngineInside::find_call(
    WorldRank rank, ContextId context, std::int32_t number
) const {
    return state_.find_call(rank, context, number);
}

std::optional<FlightEntry> EngineInside::find_failed_call(WorldRank rank, ContextId context) const {
    return state_.find_call(rank, context, std::nullopt);
}

std::optional<bool> EngineInside::has_come(WorldRank rank, ContextId context, std::int32_t number)
    const {
    return state_.has_come(rank, context, number);
}

bool EngineInside::has_freed(WorldRank rank, ContextId context, std::int32_t number) const {
    return state_.has_freed(rank, context, number);
}

bool EngineInside::is_elsewhere(WorldRank rank) const {
    return state_.is_elsewhere(rank);
}

void EngineInside::ask(const CallsElsewhere::Question& question, AskAgain again) {
    state_.ask_for_call(question, again);
}

void EngineInside::tell_of_failed_call(WorldRank rank, ContextId context, std::int32_t number) {
    state_.tell_of_failed_call(rank, context, number);
}

void EngineInside::begin_suspicion() {
    state_.begin_suspicion();
}

void EngineInside::end_suspicion() {
    state_.end_suspicion();
}

void EngineInside::mark_failed(ContextId context, FlightPlace place) {
    FlightRecorder* const flight = state_.waiter.flight_recorder();
    if (flight != nullptr) flight->fail(static_cast<std::uint64_t>(context), place);
    state_.tell_of_disagreement();
}

bool EngineInside::has_waiting() const {
    return state_.matcher.unexpected_count() != 0;
}

std::optional<MatchKey> EngineInside::find_waiting(
    ContextId context, const std::function<bool(const MatchKey&)>& is_wanted
) const {
    std::optional<MatchKey> found;
    state_.matcher.visit_waiting(context, [&](const MatchKey& key) {
        if (is_wanted(key)) found = key;
        return !found;
    });
    return found;
}

void Engine::look_inside(const std::function<void(EngineInside&)>& look) {
    const EngineLock lock(state_->waiter);
    EngineInside inside(*state_);
    look(inside);
}

Status Engine::run(EngineTask& task) {
    const EngineLock lock(state_->waiter);
    EngineInside inside(*state_);
    task.restart(inside);
    Round round{&task, &inside};
    if (!state_->waiter.is_multiple()) {
        for (std::uint32_t polls = state_->quick_polls(); polls != 0; --polls) {
            if (Round::has_ended(&round)) return task.outcome();
            state_->progress();
        }
    }
    state_->enter_task(task);
    state_->waiter.wait({Round::has_ended, &round});
    state_->leave_task(task);
    return task.outcome();
}

Request* Engine::start_task(EngineTask& task) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->make_task_request(task);
    state_->start(request);
    return &request;
}

Request* Engine::task_init(EngineTask& task) {
    const EngineLock lock(state_->waiter);
    Request& request = state_->make_task_request(task);
    request.persistence = Persistence::persistent;
    return &request;
}

Request& EngineState::make_task_request(EngineTask& task) {
    Request& request = requests.acquire();
    request.kind = RequestKind::task;
    request.key = {};
    request.key.source = any_source;
    request.found_source = no_rank;
    request.found_tag = any_tag;
    request.message_bytes = 0;
    request.capacity_bytes = 0;
    request.extra = &task;
    return request;
}

void EngineState::start_task(Request& request) {
    // The others may look at it from now on.
    request.is_done.store(false, std::memory_order_relaxed);
    EngineInside inside(*this);
    request.task().restart(inside);
    tasks_.push_back(&request);
    has_unfinished_task_ = true;
    static_cast<void>(advance_tasks());
}

bool EngineState::advance_tasks() {
    const bool has_news = has_unfinished_task_ || events_of_tasks_ != waiter.event_count();
    if (!has_news && suspicion_count_ == 0) return false;
    events_of_tasks_ = waiter.event_count();
    has_unfinished_task_ = false;
    EngineInside inside(*this);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        Request& request = *tasks_[i];
        const EngineTask::Progress progress = request.task().advance(inside);
        if (progress == EngineTask::Progress::unfinished) has_unfinished_task_ = true;
        if (progress != EngineTask::Progress::over) {
            tasks_[kept++] = &request;
        } else {
            end_round(request, request.task().outcome().code);
        }
    }
    tasks_.resize(kept);
    return true;
}

bool EngineState::is_told_of_disagreement() const {
    // Pairs with tell_of_disagreement(): the record says that it has failed.
    return notes_ != nullptr &&
           notes_->disagreements.load(std::memory_order_acquire) != disagreements_seen_;
}

void EngineState::tell_of_disagreement() {
    if (notes_ == nullptr) return;
    notes_->disagreements.fetch_add(1, std::memory_order_release);
    for (std::uint32_t local = 0; local < world_rank_of_local_.size(); ++local) {
        if (world_rank_of_local_[local] != rank_) ring(local);
    }
}

void EngineState::begin_long_wait() {
    if (notes_ != nullptr) notes_->long_waiters.fetch_add(1, std::memory_order_seq_cst);
}

void EngineState::end_long_wait() {
    if (notes_ != nullptr) notes_->long_waiters.fetch_sub(1, std::memory_order_relaxed);
}

bool Engine::has_long_waiters() const {
    return state_->has_long_waiters();
}

void EngineState::compare_calls() {
    if (notes_ != nullptr) {
        disagreements_seen_ = notes_->disagreements.load(std::memory_order_acquire);
    }
    EngineInside inside(*this);
    for (EngineTask* const task : blocking_tasks_) task->compare_calls(inside);
    for (Request* const request : tasks_) request->task().compare_calls(inside);
    for (HostWait* const wait : host_waits_) wait->event->compare_calls(inside);
    // Some may have come to an end by it.
    has_unfinished_task_ = !tasks_.empty();
    waiter.note_event();
}

const FlightRing* EngineState::flight_ring_of(WorldRank rank) const {
    const auto local = std::find(world_rank_of_local_.begin(), world_rank_of_local_.end(), rank);
    if (segment_ == nullptr || local == world_rank_of_local_.end()) return nullptr;
    return &segment_->flight_ring(static_cast<std::uint32_t>(local - world_rank_of_local_.begin()));
}

std::optional<bool> EngineState::has_come(WorldRank rank, ContextId context, std::int32_t number)
    const {
    const FlightRing* const ring = flight_ring_of(rank);
    if (ring == nullptr) return calls_elsewhere_.has_come(rank, context, number);
    for (const FlightEntry& entry : read_flight_ring(*ring, flight_record_count)) {
        if (!is_of_collective(entry.call)) continue;
        if (entry.context != static_cast<std::uint64_t>(context)) continue;
        if (is_at_or_after(entry.tag, number)) return true;
    }
    return false;
}

bool EngineState::has_freed(WorldRank rank, ContextId context, std::int32_t number) const {
    const FlightRing* const ring = flight_ring_of(rank);
    if (ring == nullptr) return calls_elsewhere_.has_freed(rank, context, number);
    for (const FlightEntry& entry : read_flight_ring(*ring, flight_record_count)) {
        if (entry.call != Call::comm_free) continue;
        if (entry.context != static_cast<std::uint64_t>(context)) continue;
        // Its tag is the number that the next operation would have had.
        return is_at_or_after(number, entry.tag);
    }
    return false;
}

std::optional<FlightEntry> EngineState::find_call(
    WorldRank rank, ContextId context, std::optional<std::int32_t> number
) const {
    const FlightRing* const ring = flight_ring_of(rank);
    if (ring == nullptr) return calls_elsewhere_.find(rank, context, number);
    for (const FlightEntry& entry : read_flight_ring(*ring, flight_record_count)) {
        if (!is_of_collective(entry.call)) continue;
        if (entry.context != static_cast<std::uint64_t>(context)) continue;
        const bool is_it = number ? entry.tag == *number : entry.state == FlightState::failed;
        if (is_it) return entry;
    }
    return std::nullopt;
}

void EngineState::release_task(Request& request) {
    EngineInside inside(*this);
    EngineTask& task = request.task();
    requests.release(request);
    task.retire(inside);
}

}  // namespace dlrt
