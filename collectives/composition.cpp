// SPDX-License-Identifier: Apache-2.0
/// Maps the steps of a phase.
#include "collectives/composition.hpp"

#include "collectives/contract.hpp"
#include "runtime/base/check.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace dlrt::coll {
namespace {

// No algorithm uses more lanes than that.
constexpr std::uint16_t lanes_per_phase = 4;

using Labels = std::vector<std::vector<std::uint32_t>>;

class Mapping {
  public:
    Mapping(ScheduleBuilder& builder, const Phase& phase, const Schedule& schedule, bool is_split)
        : builder_(builder), phase_(phase), schedule_(schedule), is_split_(is_split) {
        const std::vector<std::uint32_t>& lengths = phase.lengths;
        longest_ = *std::ranges::max_element(lengths);
        begins_.resize(lengths.size());
        std::exclusive_scan(lengths.begin(), lengths.end(), begins_.begin(), 0u);
        const bool is_even = std::ranges::all_of(lengths, [&](std::uint32_t length) {
            return length == longest_;
        });
        const bool reduces = has_reduction(schedule.collective);
        lies_by_label_ = !is_even && !reduces;
        is_in_single_chunks_ = !is_even && reduces;
        const bool is_exchange = schedule.collective == Collective::alltoall;
        DLRT_ASSERT(!is_exchange || is_even || schedule.scratch_chunks == 0);
        if (schedule.chunk_rule == ChunkRule::split || is_exchange || (is_even && !is_split))
            return;
        // Whether a message must be cut is asked by both its ends, also by one without scratch.
        breaks_at_labels_ = true;
        labels_ = chunk_labels(phase, schedule);
    }

    [[nodiscard]] std::uint32_t scratch_length() const {
        if (schedule_.scratch_chunks == 0) return 0;
        return lies_by_label_ ? begins_.back() + phase_.lengths.back()
                              : schedule_.scratch_chunks * longest_;
    }

    void add(std::uint32_t index, std::uint32_t scratch) {
        const Step& step = schedule_.steps[index];
        for (std::uint32_t begin = 0; begin < step.length;) {
            std::uint32_t end = begin + 1;
            std::uint32_t length = length_at(index, begin);
            while (end < step.length && !is_broken(index, end)) length += length_at(index, end++);
            if (length > 0) add_piece({index, begin, length, scratch});
            begin = end;
        }
    }

  private:
    struct Piece {
        std::uint32_t index, begin;  ///< The step, and the first of its chunks.
        std::uint32_t length;        ///< In chunks of the whole.
        std::uint32_t scratch;
    };

    [[nodiscard]] std::uint32_t label(std::uint32_t index, std::uint32_t chunk) const {
        if (!labels_.empty()) return labels_[index][chunk];
        const Step& step = schedule_.steps[index];
        if (schedule_.chunk_rule == ChunkRule::split) return step.like + chunk;
        const Place& place = step.kind == StepKind::recv ? step.target : step.source;
        // Of an exchange; all alike in scratch, and so all alike where scratch is used.
        return place.buffer == BufferId::scratch ? 0 : place.chunk + chunk;
    }
    [[nodiscard]] std::uint32_t length_at(std::uint32_t index, std::uint32_t chunk) const {
        if (labels_.empty() && schedule_.chunk_rule == ChunkRule::block) {
            const bool is_even = !lies_by_label_ && !is_in_single_chunks_;
            if (is_even) return longest_;
        }
        return phase_.lengths[label(index, chunk)];
    }
    [[nodiscard]] bool is_broken(std::uint32_t index, std::uint32_t chunk) const {
        if (is_in_single_chunks_) return true;
        return breaks_at_labels_ && label(index, chunk) != label(index, chunk - 1) + 1;
    }

    [[nodiscard]] Place mapped(const Place& place, const Piece& piece) const {
        const std::uint32_t chunk = place.chunk + piece.begin;
        switch (place.buffer) {
            case BufferId::none:
                return {};
            case BufferId::input:
                return {phase_.input.buffer, phase_.input.begins[chunk]};
            case BufferId::output:
                return {phase_.output.buffer, phase_.output.begins[chunk]};
            case BufferId::scratch: {
                const std::uint32_t by_label = begins_[label(piece.index, piece.begin)];
                const std::uint32_t offset = lies_by_label_ ? by_label : chunk * longest_;
                return {BufferId::scratch, piece.scratch + offset};
            }
        }
        return {};
    }

    void add_piece(const Piece& piece) {
        const Step& step = schedule_.steps[piece.index];
        const std::uint32_t like = is_split_ ? begins_[label(piece.index, piece.begin)] : 0;
        auto slice = [&](const Place& place) -> Slice {
            return {mapped(place, piece), piece.length, phase_.first_like + like};
        };
        const auto lane = static_cast<std::uint16_t>(phase_.number * lanes_per_phase + step.lane);
        switch (step.kind) {
            case StepKind::send:
                builder_.send(member(step.peer), slice(step.source), lane);
                return;
            case StepKind::recv:
                builder_.recv(member(step.peer), slice(step.target), lane);
                return;
            case StepKind::reduce:
                builder_.reduce(slice(step.source), slice(step.right), slice(step.target));
                return;
            case StepKind::copy:
                if (slice(step.source).place == slice(step.target).place) return;
                builder_.copy(slice(step.source), slice(step.target));
                return;
        }
    }
    [[nodiscard]] std::int32_t member(std::int32_t rank) const {
        return phase_.members[static_cast<std::size_t>(rank)];
    }

    ScheduleBuilder& builder_;
    const Phase& phase_;
    const Schedule& schedule_;
    bool is_split_;                      ///< The whole's vector.
    std::vector<std::uint32_t> begins_;  ///< By label, one after the other.
    std::uint32_t longest_ = 0;
    bool lies_by_label_ = false;  ///< In scratch; else places have the size of the longest chunk.
    bool is_in_single_chunks_ = false;
    bool breaks_at_labels_ = false;
    Labels labels_;  ///< Empty where places tell.
};

}  // namespace

Schedule schedule_of(const Phase& phase) {
    const auto size = static_cast<std::int32_t>(phase.members.size());
    return phase.algorithm->build({size, phase.self, phase.root, phase.placement});
}

std::uint32_t Composition::take_scratch(std::uint32_t length) {
    const std::uint32_t first = next_scratch_;
    next_scratch_ += length;
    return first;
}

void Composition::add(const Phase& phase) {
    const Schedule schedule = schedule_of(phase);
    Mapping mapping(builder_, phase, schedule, is_split_);
    const std::uint32_t scratch = take_scratch(mapping.scratch_length());
    for (std::uint32_t index = 0; index < schedule.steps.size(); ++index)
        mapping.add(index, scratch);
}

std::vector<Composition::Signal> Composition::add_signals(const Phase& phase) {
    const Schedule schedule = schedule_of(phase);
    std::vector<Signal> signals;
    std::unordered_map<std::uint32_t, ScheduleBuilder::StepIndex> added;
    for (std::uint32_t index = 0; index < schedule.steps.size(); ++index) {
        const Step& step = schedule.steps[index];
        const auto lane = static_cast<std::uint16_t>(phase.number * lanes_per_phase + step.lane);
        if (step.kind != StepKind::send && step.kind != StepKind::recv) continue;
        const std::int32_t peer = phase.members[static_cast<std::size_t>(step.peer)];
        const auto index_in_whole = step.kind == StepKind::send
                                        ? builder_.send(peer, no_data(), lane)
                                        : builder_.recv(peer, no_data(), lane);
        added.emplace(index, index_in_whole);
        signals.push_back({step.kind, peer, index_in_whole});
    }
    for (const Edge& edge : edges_of(schedule)) {
        const auto from = added.find(edge.from);
        const auto to = added.find(edge.to);
        if (from != added.end() && to != added.end()) builder_.order(from->second, to->second);
    }
    return signals;
}

}  // namespace dlrt::coll
