// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule_runner.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"

#include <cstring>
#include <limits>

namespace dlrt {
namespace {

// 30 bits of tag. Two messages of one pair with equal tags are matched in the order of sending, so
// that a sequence number that comes round again does no harm unless 8192 operations overlap.
constexpr std::uint32_t sequence_bits = 13;
constexpr std::uint32_t lane_bits = 5;
constexpr std::uint32_t order_bits = 12;

constexpr std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
    return value & ((std::uint64_t{1} << bits) - 1);
}

Tag tag_of(std::uint64_t sequence, const coll::Step& step) {
    DLRT_ASSERT(step.lane < 1u << lane_bits);
    return static_cast<Tag>(
        low_bits(sequence, sequence_bits) << (lane_bits + order_bits) |
        static_cast<std::uint64_t>(step.lane) << order_bits | low_bits(step.order, order_bits)
    );
}

const LayoutRef& bytes_layout() {
    return Layout::of(ElementType::byte);
}

}  // namespace

void ScheduleRunner::start(const ScheduleChannel& channel, const ScheduleBinding& binding) {
    DLRT_ASSERT(requests_.empty());
    channel_ = channel;
    binding_ = binding;
    status_ = {};
    const coll::Schedule& schedule = *binding.schedule;
    remaining_ = schedule.steps.size();
    pending_ = schedule.predecessor_counts;
    ready_.clear();
    next_ready_ = 0;
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
        if (pending_[i] == 0) ready_.push_back(i);
    }
}

bool ScheduleRunner::advance(std::uint32_t step_count_max) {
    collect();
    for (std::uint32_t i = 0; i < step_count_max && next_ready_ < ready_.size() && status_.ok();
         ++i) {
        start_step(ready_[next_ready_++]);
    }
    if (status_.ok()) return remaining_ == 0;
    give_up();
    return true;
}

Status ScheduleRunner::finish() {
    while (!advance(std::numeric_limits<std::uint32_t>::max())) {
        DLRT_ASSERT(!requests_.empty());
        channel_.engine->wait_any(requests_);
    }
    return status_;
}

void ScheduleRunner::start_step(std::uint32_t index) {
    const coll::Step& step = binding_.schedule->steps[index];
    const std::uint64_t bytes = size_bytes(step);
    Engine& engine = *channel_.engine;
    switch (step.kind) {
        case coll::StepKind::send: {
            const ConstBuffer buffer{source_of(step.source), bytes, &bytes_layout()};
            return add_request(engine.isend(SendMode::standard, route(step), buffer), index);
        }
        case coll::StepKind::recv: {
            const Buffer buffer{target_of(step.target), bytes, &bytes_layout()};
            return add_request(engine.irecv(route(step), buffer), index);
        }
        case coll::StepKind::reduce:
            if (bytes > 0) {
                binding_.reducer->apply(
                    source_of(step.source), source_of(step.right), target_of(step.target), bytes,
                    binding_.reduction_memory
                );
            }
            return complete_step(index);
        case coll::StepKind::copy:
            if (bytes > 0) std::memcpy(target_of(step.target), source_of(step.source), bytes);
            return complete_step(index);
    }
}

void ScheduleRunner::add_request(Request* request, std::uint32_t index) {
    // Most sends are buffered at once: their successors need not wait for the next look.
    if (is_complete(*request)) {
        complete_request(request, index);
    } else {
        requests_.push_back(request);
        request_steps_.push_back(index);
    }
}

void ScheduleRunner::complete_request(Request* request, std::uint32_t index) {
    const MessageStatus found = status_of(*request);
    channel_.engine->release(request);
    check_arrival(index, found);
    complete_step(index);
}

void ScheduleRunner::collect() {
    for (std::size_t i = 0; i < requests_.size();) {
        Request* request = requests_[i];
        if (!is_complete(*request)) {
            ++i;
            continue;
        }
        const std::uint32_t index = request_steps_[i];
        requests_[i] = requests_.back();
        requests_.pop_back();
        request_steps_[i] = request_steps_.back();
        request_steps_.pop_back();
        complete_request(request, index);
    }
}

void ScheduleRunner::check_arrival(std::uint32_t index, const MessageStatus& found) {
    if (!status_.ok()) return;
    const coll::Step& step = binding_.schedule->steps[index];
    const bool is_recv = step.kind == coll::StepKind::recv;
    const bool is_longer = found.error.code == Errc::truncate;
    if (is_longer || (found.error.ok() && is_recv && found.size_bytes != size_bytes(step))) {
        status_ = fail(
            Errc::mismatch, "{}: rank {} sent {} than the {} bytes that rank {} expects",
            coll::name_of(binding_.schedule->collective), step.peer, is_longer ? "more" : "less",
            size_bytes(step), binding_.schedule->shape.rank
        );
    } else if (found.error.code == Errc::peer_lost) {
        status_ = fail(
            Errc::peer_lost, "{}: rank {} (world rank {}) has ended without finalizing",
            coll::name_of(binding_.schedule->collective), step.peer,
            channel_.group->world_rank(step.peer)
        );
    } else if (!found.error.ok()) {
        status_ = fail(
            found.error.code, "{} with rank {}: {}", coll::name_of(binding_.schedule->collective),
            step.peer, errc_description(found.error.code)
        );
    }
}

void ScheduleRunner::complete_step(std::uint32_t index) {
    --remaining_;
    for (const std::uint32_t successor : binding_.schedule->successors_of(index)) {
        if (--pending_[successor] == 0) ready_.push_back(successor);
    }
}

void ScheduleRunner::give_up() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        Request* request = requests_[i];
        // A receive that has begun writes into memory that is the caller's again once we return.
        if (binding_.schedule->steps[request_steps_[i]].kind == coll::StepKind::recv) {
            static_cast<void>(channel_.engine->cancel(request));
            channel_.engine->wait(request);
        }
        channel_.engine->release(request);
    }
    requests_.clear();
    request_steps_.clear();
}

Route ScheduleRunner::route(const coll::Step& step) const {
    return {
        channel_.context, channel_.group->world_rank(step.peer), tag_of(channel_.sequence, step)};
}

const std::byte* ScheduleRunner::source_of(const coll::Place& place) const {
    return place.buffer == coll::BufferId::input
               ? binding_.input + binding_.sizes.offset_bytes(place)
               : target_of(place);
}

std::byte* ScheduleRunner::target_of(const coll::Place& place) const {
    if (place.buffer == coll::BufferId::none) return nullptr;
    std::byte* base = place.buffer == coll::BufferId::output ? binding_.output : binding_.scratch;
    return base + binding_.sizes.offset_bytes(place);
}

}  // namespace dlrt
