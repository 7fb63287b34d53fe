// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule_runner.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/collective_buffer.hpp"
#include "runtime/engine_state.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace dlrt {
namespace {

// 30 bits of tag. Two messages of one pair with equal tags are matched in the order of sending, so
// that a number that comes round again does no harm unless 4096 operations overlap.
constexpr std::uint32_t number_bits = 12;
constexpr std::uint32_t lane_bits = 5;
constexpr std::uint32_t order_bits = 12;
constexpr std::uint32_t persistence_bit = number_bits + lane_bits + order_bits;

// How much is done before others in the engine have their turn.
constexpr std::uint32_t steps_per_round = 64;
constexpr std::uint64_t bytes_per_round = std::uint64_t{1} << 20;

/// For the answer of a rank on another host, whose call a message has shown to be another.
constexpr std::uint64_t patience_ns = 500'000'000;
/// More aren't asked at once.
constexpr std::int32_t asked_ranks_max = 256;

constexpr std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
    return value & ((std::uint64_t{1} << bits) - 1);
}

/// With what an abort was about, where somebody said it.
std::string reason_of(EngineInside& inside, Errc code) {
    const HostSegment* const segment = inside.state().segment();
    if (code != Errc::aborted || segment == nullptr) return std::string(errc_description(code));
    const AbortCell& cell = segment->abort_cell();
    if (cell.raised.load(std::memory_order_acquire) == 0 || cell.text[0] == '\0') {
        return std::string(errc_description(code));
    }
    return fmt::format("{}: {}", errc_description(code), cell.text);
}

Tag tag_of(const OperationNumber& number, const coll::Step& step) {
    DLRT_ASSERT(step.lane < 1u << lane_bits);
    const std::uint64_t is_persistent = number.persistence == Persistence::persistent ? 1 : 0;
    return static_cast<Tag>(
        is_persistent << persistence_bit |
        low_bits(number.value, number_bits) << (lane_bits + order_bits) |
        static_cast<std::uint64_t>(step.lane) << order_bits | low_bits(step.order, order_bits)
    );
}

const LayoutRef& bytes_layout() {
    return Layout::of(ElementType::byte);
}

}  // namespace

void ScheduleRunner::restart(EngineInside&) {
    DLRT_ASSERT(requests_.empty());
    status_ = {};
    has_told_others_ = false;
    const coll::Schedule& schedule = *binding_.schedule;
    remaining_ = schedule.steps.size();
    pending_ = schedule.predecessor_counts;
    ready_.clear();
    next_ready_ = 0;
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
        if (pending_[i] == 0) ready_.push_back(i);
    }
}

EngineTask::Progress ScheduleRunner::advance(EngineInside& inside) {
    collect(inside);
    if (suspicion_) settle_suspicion(inside);
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; status_.ok() && !suspicion_ && next_ready_ < ready_.size(); ++i) {
        if (i == steps_per_round || bytes >= bytes_per_round) return Progress::unfinished;
        const std::uint32_t index = ready_[next_ready_++];
        const coll::StepKind kind = binding_.schedule->steps[index].kind;
        if (kind == coll::StepKind::reduce || kind == coll::StepKind::copy) {
            bytes += size_bytes(binding_.schedule->steps[index]);
        }
        start_step(inside, index);
    }
    if (suspicion_) return Progress::waiting;
    if (!status_.ok()) give_up(inside);
    if (status_.code == Errc::mismatch) tell_others_of_failure(inside);
    const bool is_over = status_.ok() ? remaining_ == 0 : requests_.empty();
    return is_over ? Progress::over : Progress::waiting;
}

Status ScheduleRunner::outcome() const {
    return status_.ok() ? status_ : fail(status_.code, "{}", failure_);
}

void ScheduleRunner::start_step(EngineInside& inside, std::uint32_t index) {
    const coll::Step& step = binding_.schedule->steps[index];
    switch (step.kind) {
        case coll::StepKind::send:
            return add_request(
                inside, inside.isend(route(step), source_buffer(step), channel_.check), index
            );
        case coll::StepKind::recv:
            return add_request(
                inside, inside.irecv(route(step), target_buffer(step), channel_.check), index
            );
        case coll::StepKind::reduce: {
            const std::uint64_t bytes = size_bytes(step);
            if (bytes > 0) {
                binding_.reducer->apply(
                    source_of(step.source), source_of(step.right), target_of(step.target), bytes,
                    binding_.reduction_memory
                );
            }
            return complete_step(index);
        }
        case coll::StepKind::copy:
            if (block_at(step.source) != nullptr || block_at(step.target) != nullptr) {
                copy_blocks(inside, step);
            } else if (const std::uint64_t bytes = size_bytes(step); bytes > 0) {
                std::memcpy(target_of(step.target), source_of(step.source), bytes);
            }
            return complete_step(index);
    }
}

void ScheduleRunner::add_request(EngineInside& inside, Request& request, std::uint32_t index) {
    // Most sends are buffered at once: their successors need not wait for the next look.
    if (is_complete(request)) {
        complete_request(inside, request, index);
    } else {
        requests_.push_back(&request);
        request_steps_.push_back(index);
    }
}

void ScheduleRunner::complete_request(EngineInside& inside, Request& request, std::uint32_t index) {
    const MessageStatus found = status_of(request);
    inside.release(request);
    check_arrival(inside, index, found);
    complete_step(index);
}

void ScheduleRunner::collect(EngineInside& inside) {
    for (std::size_t i = 0; i < requests_.size();) {
        Request* const request = requests_[i];
        if (!is_complete(*request)) {
            ++i;
            continue;
        }
        const std::uint32_t index = request_steps_[i];
        requests_[i] = requests_.back();
        requests_.pop_back();
        request_steps_[i] = request_steps_.back();
        request_steps_.pop_back();
        complete_request(inside, *request, index);
    }
}

template<typename... Args>
void ScheduleRunner::decide_failure(Errc code, fmt::format_string<Args...> format, Args&&... args) {
    failure_ = fmt::format(format, std::forward<Args>(args)...);
    status_ = Status{code, 0};
}

void ScheduleRunner::check_arrival(
    EngineInside& inside, std::uint32_t index, const MessageStatus& found
) {
    if (!status_.ok() || suspicion_) return;
    const coll::Step& step = binding_.schedule->steps[index];
    const std::string_view name = coll::name_of(binding_.schedule->collective);
    const bool is_recv = step.kind == coll::StepKind::recv;
    const bool is_longer = found.error.code == Errc::truncate;
    if (found.error.code == Errc::mismatch) {
        explain_mismatch(inside, step.peer, channel_.number);
    } else if (is_longer || (found.error.ok() && is_recv && found.size_bytes != size_bytes(step))) {
        decide_failure(
            Errc::mismatch, "{}: rank {} sent {} than the {} bytes that rank {} expects", name,
            step.peer, is_longer ? "more" : "less", size_bytes(step), binding_.schedule->shape.rank
        );
        tell_of_disagreement(inside, call_in_progress(channel_.number));
    } else if (found.error.code == Errc::peer_lost) {
        // It may have left because of a disagreement, which then is the cause.
        compare_calls(inside);
        if (!status_.ok()) return;
        const WorldRank lost = channel_.group->world_rank(step.peer);
        decide_failure(
            Errc::peer_lost, "{}: rank {} (world rank {}) {}", name, step.peer, lost,
            inside.state().departure_of(lost)
        );
    } else if (!found.error.ok()) {
        decide_failure(
            found.error.code, "{} with rank {}: {}", name, step.peer,
            reason_of(inside, found.error.code)
        );
    }
}

CallInProgress ScheduleRunner::call_in_progress(const OperationNumber& number) const {
    return {
        channel_.group, ContextId{static_cast<std::uint64_t>(channel_.context) - 1}, number,
        binding_.schedule->shape.rank};
}

void ScheduleRunner::explain_mismatch(
    EngineInside& inside, std::int32_t peer, const OperationNumber& number
) {
    const CallInProgress call = call_in_progress(number);
    if (is_call_known(inside, call, peer)) {
        decide_failure(Errc::mismatch, "{}", explain_disagreement(inside, call, peer));
        return;
    }
    ask(inside, call, peer, AskAgain::at_once);
    suspicion_ = {peer, number, monotonic_ns() + patience_ns};
    inside.begin_suspicion();
}

void ScheduleRunner::settle_suspicion(EngineInside& inside) {
    const CallInProgress call = call_in_progress(suspicion_->number);
    const bool is_known = is_call_known(inside, call, suspicion_->peer);
    if (!is_known && monotonic_ns() < suspicion_->ends_at_ns) {
        // It may have answered before it came to that call.
        return ask(inside, call, suspicion_->peer, AskAgain::at_once);
    }
    decide_failure(Errc::mismatch, "{}", explain_disagreement(inside, call, suspicion_->peer));
    suspicion_.reset();
    inside.end_suspicion();
}

void ScheduleRunner::ask(
    EngineInside& inside, const CallInProgress& call, std::int32_t peer, AskAgain again
) {
    inside.ask({call.group->world_rank(peer), call.user_context, call.number.short_form()}, again);
}

void ScheduleRunner::ask_awaited(EngineInside& inside) {
    const CallInProgress call = call_in_progress(channel_.number);
    for (const std::uint32_t index : request_steps_) {
        ask(inside, call, binding_.schedule->steps[index].peer, AskAgain::later);
    }
}

void ScheduleRunner::ask_others(EngineInside& inside) {
    if (channel_.group->size() > asked_ranks_max) return ask_awaited(inside);
    const CallInProgress call = call_in_progress(channel_.number);
    for (std::int32_t rank = 0; rank < channel_.group->size(); ++rank) {
        ask(inside, call, rank, AskAgain::at_once);
    }
}

/// Those who may wait for this rank; they tell others.
void ScheduleRunner::tell_others_of_failure(EngineInside& inside) {
    if (std::exchange(has_told_others_, true)) return;
    const CallInProgress call = call_in_progress(channel_.number);
    std::vector<std::int32_t> peers;
    for (const coll::Step& step : binding_.schedule->steps) {
        const bool is_message = step.kind == coll::StepKind::send ||
                                step.kind == coll::StepKind::recv;
        if (is_message) peers.push_back(step.peer);
    }
    std::ranges::sort(peers);
    const auto doubles = std::ranges::unique(peers);
    peers.erase(doubles.begin(), doubles.end());
    for (const std::int32_t peer : peers) {
        inside.tell_of_failed_call(
            call.group->world_rank(peer), call.user_context, call.number.short_form()
        );
    }
}

void ScheduleRunner::compare_calls(EngineInside& inside) {
    if (!status_.ok() || suspicion_) return;
    ask_awaited(inside);
    const auto found = find_disagreement(inside, call_in_progress(channel_.number));
    if (found) decide_failure(Errc::mismatch, "{}", *found);
}

std::string ScheduleRunner::describe_wait(EngineInside& inside) const {
    return describe_absence(inside, call_in_progress(channel_.number));
}

void ScheduleRunner::look_for_leftovers(EngineInside& inside) {
    const std::uint64_t own = channel_.number.value;
    const auto age_of = [&](Tag tag) {
        const auto bits = static_cast<std::uint64_t>(tag) >> (lane_bits + order_bits);
        return low_bits(own - bits, number_bits);
    };
    const auto is_due = [&](const MatchKey& key) {
        const bool is_once = static_cast<std::uint32_t>(key.tag) >> persistence_bit == 0;
        return is_once && age_of(key.tag) < 1u << (number_bits - 1);
    };
    const std::optional<MatchKey> left = inside.find_waiting(channel_.context, is_due);
    if (!left) return;
    const OperationNumber number{own - age_of(left->tag), Persistence::once};
    explain_mismatch(inside, channel_.group->rank_of(left->source), number);
}

void ScheduleRunner::look_at_targets(EngineInside& inside) {
    const std::vector<coll::Step>& steps = binding_.schedule->steps;
    const auto is_recv = [](const coll::Step& step) { return step.kind == coll::StepKind::recv; };
    if (std::ranges::any_of(steps, is_recv)) return;
    for (const coll::Step& step : steps) {
        if (step.kind != coll::StepKind::send) continue;
        if (!are_different(inside, call_in_progress(channel_.number), step.peer)) continue;
        return explain_mismatch(inside, step.peer, channel_.number);
    }
}

void ScheduleRunner::complete_step(std::uint32_t index) {
    --remaining_;
    for (const std::uint32_t successor : binding_.schedule->successors_of(index)) {
        if (--pending_[successor] == 0) ready_.push_back(successor);
    }
}

void ScheduleRunner::give_up(EngineInside& inside) {
    // A receive that has begun writes into memory that is the caller's again once the operation is
    // over.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        Request& request = *requests_[i];
        const bool is_recv = binding_.schedule->steps[request_steps_[i]].kind ==
                             coll::StepKind::recv;
        if (is_recv) inside.cancel(request);
        if (is_recv && !is_complete(request)) {
            requests_[kept] = &request;
            request_steps_[kept++] = request_steps_[i];
        } else {
            inside.release(request);
        }
    }
    requests_.resize(kept);
    request_steps_.resize(kept);
}

Route ScheduleRunner::route(const coll::Step& step) const {
    return {channel_.context, channel_.group->world_rank(step.peer), tag_of(channel_.number, step)};
}

std::uint64_t ScheduleRunner::size_bytes(const coll::Step& step) const {
    if (binding_.output_blocks == nullptr && binding_.input_blocks == nullptr) {
        return binding_.sizes.size_bytes(step.like, step.length);
    }
    if (step.length == 0) return 0;
    const TypedBlock* block = nullptr;
    if (step.kind == coll::StepKind::send) block = block_at(step.source);
    if (step.kind == coll::StepKind::recv) block = block_at(step.target);
    return block != nullptr ? block->size_bytes : binding_.sizes.full_bytes();
}

const TypedBlock* ScheduleRunner::block_at(const coll::Place& place) const {
    if (place.buffer == coll::BufferId::input && binding_.input_blocks != nullptr) {
        return binding_.input_blocks + place.chunk;
    }
    if (place.buffer == coll::BufferId::output && binding_.output_blocks != nullptr) {
        return binding_.output_blocks + place.chunk;
    }
    return nullptr;
}

ConstBuffer ScheduleRunner::source_buffer(const coll::Step& step) const {
    const TypedBlock* const block = block_at(step.source);
    if (block != nullptr) return {block->address, block->count, block->layout};
    return {source_of(step.source), size_bytes(step), &bytes_layout()};
}

Buffer ScheduleRunner::target_buffer(const coll::Step& step) const {
    const TypedBlock* const block = block_at(step.target);
    if (block != nullptr) return {block->address, block->count, block->layout};
    return {target_of(step.target), size_bytes(step), &bytes_layout()};
}

void ScheduleRunner::copy_blocks(EngineInside& inside, const coll::Step& step) {
    const ConstBuffer from = source_buffer(step);
    const Buffer to = target_buffer(step);
    const std::uint64_t bytes = from.count * (*from.layout)->size_bytes();
    const std::uint64_t room_bytes = to.count * (*to.layout)->size_bytes();
    if (bytes != room_bytes) {
        decide_failure(
            Errc::mismatch, "{}: the block for itself has {} bytes as sent, {} as received",
            coll::name_of(binding_.schedule->collective), bytes, room_bytes
        );
        return tell_of_disagreement(inside, call_in_progress(channel_.number));
    }
    if (bytes == 0) return;
    if ((*to.layout)->is_contiguous()) {
        std::byte* const target = address_of(to, {}, 0);
        pack(**from.layout, from.count, from.address, 0, {target, bytes});
    } else if ((*from.layout)->is_contiguous()) {
        unpack(**to.layout, to.count, to.address, 0, {address_of(from, {}, 0), bytes});
    } else {
        const auto packed = std::make_unique_for_overwrite<std::byte[]>(bytes);
        pack(**from.layout, from.count, from.address, 0, {packed.get(), bytes});
        unpack(**to.layout, to.count, to.address, 0, {packed.get(), bytes});
    }
}

const std::byte* ScheduleRunner::source_of(const coll::Place& place) const {
    if (const TypedBlock* const block = block_at(place); block != nullptr) return block->address;
    return place.buffer == coll::BufferId::input
               ? binding_.input + binding_.sizes.offset_bytes(place)
               : target_of(place);
}

std::byte* ScheduleRunner::target_of(const coll::Place& place) const {
    if (place.buffer == coll::BufferId::none) return nullptr;
    if (const TypedBlock* const block = block_at(place); block != nullptr) return block->address;
    std::byte* base = place.buffer == coll::BufferId::output ? binding_.output : binding_.scratch;
    return base + binding_.sizes.offset_bytes(place);
}

}  // namespace dlrt
