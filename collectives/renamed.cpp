// SPDX-License-Identifier: Apache-2.0
/// Gives the ranks of a schedule other numbers, and with them their blocks.
#include "collectives/contract.hpp"
#include "collectives/hierarchy.hpp"
#include "runtime/base/check.hpp"

namespace dlrt::coll {
namespace {

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
    static Slice slice(const Place& place, std::uint32_t length) { return {place, length, 0}; }

    Slice staging(std::uint32_t length) {
        const Slice result = scratch_slice(next_scratch_, 0, length);
        next_scratch_ += length;
        return result;
    }

    void add(const Step& step) {
        std::uint32_t run_count = 0;
        for_runs(step, [&](std::uint32_t, std::uint32_t) { ++run_count; });
        const bool is_message = step.kind == StepKind::send || step.kind == StepKind::recv;
        if (is_message && run_count > 1) return add_staged(step);
        for_runs(step, [&](std::uint32_t first, std::uint32_t length) {
            auto piece = [&](const Place& place) { return slice(at(place, first), length); };
            switch (step.kind) {
                case StepKind::send:
                    builder_.send(ranks_.rank_at(step.peer), piece(step.source), step.lane);
                    return;
                case StepKind::recv:
                    builder_.recv(ranks_.rank_at(step.peer), piece(step.target), step.lane);
                    return;
                case StepKind::reduce:
                    builder_.reduce(piece(step.source), piece(step.right), piece(step.target));
                    return;
                case StepKind::copy:
                    copy(piece(step.source), piece(step.target));
                    return;
            }
        });
    }

    void copy(const Slice& source, const Slice& target) {
        const bool is_there = target.length == 1 && target.place == kept_;
        if (!is_there) builder_.copy(source, target);
    }

    void add_staged(const Step& step) {
        const Slice whole = staging(step.length);
        const bool is_send = step.kind == StepKind::send;
        if (!is_send) builder_.recv(ranks_.rank_at(step.peer), whole, step.lane);
        for_runs(step, [&](std::uint32_t first, std::uint32_t length) {
            const Slice part = scratch_slice(whole.place.chunk + first, 0, length);
            const Slice home = slice(at(is_send ? step.source : step.target, first), length);
            copy(is_send ? home : part, is_send ? part : home);
        });
        if (is_send) builder_.send(ranks_.rank_at(step.peer), whole, step.lane);
    }

    const Schedule& schedule_;
    const Groups& ranks_;
    ScheduleBuilder builder_;
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
