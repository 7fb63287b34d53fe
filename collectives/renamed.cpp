// SPDX-License-Identifier: Apache-2.0
/// Gives the ranks of a schedule other numbers, and with them their blocks.
#include "collectives/contract.hpp"
#include "collectives/hierarchy.hpp"

#include <algorithm>
#include <vector>

namespace dlrt::coll {
namespace {

/// Drops copies into scratch that nothing reads. `steps` are in an order in which they can run.
void drop_unread_copies(std::vector<Step>& steps, std::uint32_t scratch_chunks) {
    std::vector<char> is_read(scratch_chunks, 0);  // By a later step, before the next write.
    auto mark = [&](const Place& place, std::uint32_t length, char value) {
        if (place.buffer != BufferId::scratch) return;
        for (std::uint32_t i = 0; i < length; ++i) is_read[place.chunk + i] = value;
    };
    auto is_useless = [&](const Step& step) {
        if (step.kind != StepKind::copy || step.target.buffer != BufferId::scratch) return false;
        const auto first = is_read.begin() + step.target.chunk;
        return std::none_of(first, first + step.length, [](char read) { return read != 0; });
    };
    std::vector<Step> kept;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (is_useless(*step)) continue;
        mark(step->target, step->length, 0);
        mark(step->source, step->length, 1);
        mark(step->right, step->length, 1);
        kept.push_back(*step);
    }
    steps.assign(kept.rbegin(), kept.rend());
}

class Renaming {
  public:
    Renaming(const Schedule& schedule, const Shape& shape, const Groups& ranks)
        : schedule_(schedule),
          ranks_(ranks),
          builder_(
              {schedule.collective, schedule.algorithm, schedule.chunk_rule, schedule.chunk_count,
               has_reduction(schedule.collective) ? OperandOrder::any : OperandOrder::by_rank},
              shape
          ),
          next_scratch_(schedule.scratch_chunks) {
        const bool is_exchange = schedule.collective == Collective::allgather ||
                                 schedule.collective == Collective::alltoall;
        if (is_exchange && shape.placement == Placement::in_place)
            kept_ = {BufferId::output, static_cast<std::uint32_t>(shape.rank)};
    }

    Schedule run() && {
        for (const Step& step : schedule_.steps) add(step);
        drop_unread_copies(steps_, next_scratch_);
        for (const Step& step : steps_) build(step);
        return std::move(builder_).finish();
    }

  private:
    [[nodiscard]] Place at(const Place& place, std::uint32_t index) const {
        const std::uint32_t chunk = place.chunk + index;
        // A buffer with a block for each rank has that of rank 0 first, and others have one block.
        const bool has_ranks = place.buffer == BufferId::input || place.buffer == BufferId::output;
        if (!has_ranks) return {place.buffer, chunk};
        const std::int32_t rank = ranks_.rank_at(static_cast<std::int32_t>(chunk));
        return {place.buffer, static_cast<std::uint32_t>(rank)};
    }
    [[nodiscard]] bool continues(const Place& place, std::uint32_t index) const {
        return place.buffer == BufferId::none ||
               at(place, index).chunk == at(place, index - 1).chunk + 1;
    }

    /// Calls act(first, length) for runs of chunks that lie together in all places of the step.
    template<typename Act>
    void for_runs(const Step& step, const Act& act) const {
        for (std::uint32_t begin = 0; begin < step.length;) {
            std::uint32_t end = begin + 1;
            while (end < step.length && continues(step.source, end) && continues(step.right, end) &&
                   continues(step.target, end)) {
                ++end;
            }
            act(begin, end - begin);
            begin = end;
        }
    }

    void add(const Step& step) {
        std::uint32_t run_count = 0;
        for_runs(step, [&](std::uint32_t, std::uint32_t) { ++run_count; });
        const bool is_message = step.kind == StepKind::send || step.kind == StepKind::recv;
        if (is_message && run_count > 1) return add_staged(step);
        for_runs(step, [&](std::uint32_t first, std::uint32_t length) {
            Step renamed = step;
            renamed.peer = peer(step);
            renamed.length = length;
            for (Place* place : {&renamed.source, &renamed.right, &renamed.target})
                *place = at(*place, first);
            add_piece(renamed);
        });
    }

    [[nodiscard]] std::int32_t peer(const Step& step) const {
        return step.peer < 0 ? step.peer : ranks_.rank_at(step.peer);
    }

    void add_piece(const Step& step) {
        const bool is_there = step.kind == StepKind::copy && step.length == 1 &&
                              step.target == kept_;
        if (!is_there) steps_.push_back(step);
    }

    void add_staged(const Step& step) {
        const Place whole{BufferId::scratch, next_scratch_};
        next_scratch_ += step.length;
        const bool is_send = step.kind == StepKind::send;
        Step message = step;
        message.peer = peer(step);
        (is_send ? message.source : message.target) = whole;
        if (!is_send) steps_.push_back(message);
        for_runs(step, [&](std::uint32_t first, std::uint32_t length) {
            const Place part{whole.buffer, whole.chunk + first};
            const Place home = at(is_send ? step.source : step.target, first);
            Step copy;
            copy.length = length;
            copy.source = is_send ? home : part;
            copy.target = is_send ? part : home;
            add_piece(copy);
        });
        if (is_send) steps_.push_back(message);
    }

    void build(const Step& step) {
        auto piece = [&](const Place& place) { return Slice{place, step.length, 0}; };
        switch (step.kind) {
            case StepKind::send:
                builder_.send(step.peer, piece(step.source), step.lane);
                return;
            case StepKind::recv:
                builder_.recv(step.peer, piece(step.target), step.lane);
                return;
            case StepKind::reduce:
                builder_.reduce(piece(step.source), piece(step.right), piece(step.target));
                return;
            case StepKind::copy:
                builder_.copy(piece(step.source), piece(step.target));
                return;
        }
    }

    const Schedule& schedule_;
    const Groups& ranks_;
    ScheduleBuilder builder_;
    std::vector<Step> steps_;
    std::uint32_t next_scratch_;
    /// The block that has been in its place from the beginning.
    Place kept_;
};

}  // namespace

Schedule renamed(const Schedule& schedule, const Shape& shape, const Groups& ranks) {
    if (has_blocks(schedule.collective)) return Renaming(schedule, shape, ranks).run();
    Schedule result = schedule;
    result.shape = shape;
    if (has_reduction(schedule.collective)) result.operand_order = OperandOrder::any;
    for (Step& step : result.steps) {
        if (step.peer >= 0) step.peer = ranks.rank_at(step.peer);
    }
    return result;
}

}  // namespace dlrt::coll
