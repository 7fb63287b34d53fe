// SPDX-License-Identifier: Apache-2.0
/// Derives edges from the last writer and the readers of each chunk.
#include "collectives/schedule_builder.hpp"

#include "runtime/base/check.hpp"

#include <utility>

namespace dlrt::coll {

ScheduleBuilder::ScheduleBuilder(const Header& header, const Shape& shape) {
    DLRT_ASSERT(shape.size > 0 && shape.rank >= 0 && shape.rank < shape.size);
    DLRT_ASSERT(shape.root >= 0 && shape.root < shape.size);
    schedule_.collective = header.collective;
    schedule_.algorithm = header.algorithm;
    schedule_.shape = shape;
    schedule_.chunk_rule = header.chunk_rule;
    schedule_.operand_order = header.operand_order;
    schedule_.chunk_count = header.chunk_count;
    schedule_.window = header.window;
    schedule_.steps.reserve(16);
    edges_.reserve(64);
    readers_.reserve(32);
}

ScheduleBuilder::StepIndex ScheduleBuilder::send(
    std::int32_t peer, const Slice& source, std::uint16_t lane
) {
    Step step = message(StepKind::send, peer, lane, source);
    step.source = source.place;
    return append(step);
}

ScheduleBuilder::StepIndex ScheduleBuilder::recv(
    std::int32_t peer, const Slice& target, std::uint16_t lane
) {
    Step step = message(StepKind::recv, peer, lane, target);
    step.target = target.place;
    return append(step);
}

Step ScheduleBuilder::message(
    StepKind kind, std::int32_t peer, std::uint16_t lane, const Slice& slice
) {
    const auto key = static_cast<std::uint64_t>(kind) << 48 |
                     static_cast<std::uint64_t>(lane) << 32 | static_cast<std::uint32_t>(peer);
    Step step;
    step.kind = kind;
    step.lane = lane;
    step.peer = peer;
    step.order = message_count(key)++;
    step.length = slice.length;
    step.like = slice.like;
    return step;
}

std::uint32_t& ScheduleBuilder::message_count(std::uint64_t key) {
    for (auto* const entry : recent_counts_) {
        if (entry != nullptr && entry->first == key) return entry->second;
    }
    recent_counts_[1] = recent_counts_[0];
    recent_counts_[0] = &*message_counts_.try_emplace(key).first;
    return recent_counts_[0]->second;
}

ScheduleBuilder::StepIndex ScheduleBuilder::reduce(
    const Slice& left, const Slice& right, const Slice& target
) {
    DLRT_ASSERT(left.length == right.length && left.length == target.length);
    const bool is_alike = left.like == right.like && left.like == target.like;
    DLRT_ASSERT(schedule_.chunk_rule == ChunkRule::block || is_alike);
    Step step;
    step.kind = StepKind::reduce;
    step.length = target.length;
    step.like = target.like;
    step.source = left.place;
    step.right = right.place;
    step.target = target.place;
    return append(step);
}

ScheduleBuilder::StepIndex ScheduleBuilder::copy(const Slice& source, const Slice& target) {
    DLRT_ASSERT(source.length == target.length);
    DLRT_ASSERT(schedule_.chunk_rule == ChunkRule::block || source.like == target.like);
    Step step;
    step.kind = StepKind::copy;
    step.length = target.length;
    step.like = target.like;
    step.source = source.place;
    step.target = target.place;
    return append(step);
}

void ScheduleBuilder::order(StepIndex earlier, StepIndex later) {
    edges_.push_back({earlier, later});
}

ScheduleBuilder::StepIndex ScheduleBuilder::append(const Step& step) {
    const auto index = static_cast<StepIndex>(schedule_.steps.size());
    schedule_.steps.push_back(step);
    // In blocks all chunks are alike, so that a message needs not say which block it was cut from.
    if (schedule_.chunk_rule == ChunkRule::block) schedule_.steps.back().like = 0;
    note_read(step.source, step.length, index);
    note_read(step.right, step.length, index);
    note_write(step.target, step.length, index);
    return index;
}

// The chunks of a slice mostly give one edge.
void ScheduleBuilder::add_edge(StepIndex earlier, StepIndex later) {
    const Edge edge{earlier, later};
    if (edges_.empty() || edges_.back() != edge) edges_.push_back(edge);
}

void ScheduleBuilder::note_read(const Place& place, std::uint32_t length, StepIndex step) {
    if (place.buffer == BufferId::none) return;
    for (std::uint32_t i = 0; i < length; ++i) {
        History& past = history(place.buffer, place.chunk + i);
        if (past.writer >= 0) add_edge(static_cast<StepIndex>(past.writer), step);
        readers_.push_back({step, past.last_reader});
        past.last_reader = static_cast<std::int64_t>(readers_.size()) - 1;
    }
}

void ScheduleBuilder::note_write(const Place& place, std::uint32_t length, StepIndex step) {
    if (place.buffer == BufferId::none) return;
    for (std::uint32_t i = 0; i < length; ++i) {
        History& past = history(place.buffer, place.chunk + i);
        // Readers come after the last writer already; only without any does that edge say
        // something.
        bool has_reader = false;
        for (std::int64_t at = past.last_reader; at >= 0;) {
            const Reader& reader = readers_[static_cast<std::size_t>(at)];
            at = reader.previous;
            if (reader.step == step) continue;
            add_edge(reader.step, step);
            has_reader = true;
        }
        if (past.writer >= 0 && past.writer != step && !has_reader) {
            add_edge(static_cast<StepIndex>(past.writer), step);
        }
        past = {step, -1};
    }
}

ScheduleBuilder::History& ScheduleBuilder::history(BufferId buffer, std::uint32_t chunk) {
    std::vector<History>& chunks = histories_[static_cast<std::size_t>(buffer)];
    if (chunks.size() <= chunk) chunks.resize(std::max<std::size_t>(chunk + 1, 2 * chunks.size()));
    if (buffer == BufferId::scratch)
        schedule_.scratch_chunks = std::max(schedule_.scratch_chunks, chunk + 1);
    return chunks[chunk];
}

Schedule ScheduleBuilder::finish() && {
    set_edges(schedule_, std::move(edges_));
    return std::move(schedule_);
}

}  // namespace dlrt::coll
