// SPDX-License-Identifier: Apache-2.0
/// Runs the schedules of all ranks on lists of names, for tests: an input chunk is a list with one
/// name, an operation joins two lists, so that a result tells who is in it and in which order.
/// Knows nothing of contracts and of the verifier.
#pragma once

#include "collectives/schedule.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace dlrt::coll {

/// A chunk of a rank's input.
struct Name {
    std::int32_t rank = 0;
    std::uint32_t chunk = 0;
    friend auto operator<=>(const Name&, const Name&) = default;
};
using Names = std::vector<Name>;

class Replay {
  public:
    /// Fills the input, or in place the output, of each rank with chunk_count chunks. Throws when
    /// not all steps can be run.
    explicit Replay(const std::vector<Schedule>& schedules) : schedules_(schedules) {
        for (const Schedule& schedule : schedules_) {
            const bool is_in_place = schedule.shape.placement == Placement::in_place;
            ranks_.emplace_back(schedule);
            for (std::uint32_t chunk = 0; chunk < schedule.chunk_count; ++chunk) {
                const Place place{is_in_place ? BufferId::output : BufferId::input, chunk};
                at(schedule.shape.rank, place) = {{schedule.shape.rank, chunk}};
            }
        }
        for (bool has_moved = true; has_moved;) {
            has_moved = false;
            // From the last to the first, so that nothing relies on the order that authors think
            // in.
            for (std::size_t rank = schedules_.size(); rank-- > 0;) {
                const Schedule& schedule = schedules_[rank];
                for (auto step = static_cast<std::uint32_t>(schedule.steps.size()); step-- > 0;)
                    has_moved |= try_step(rank, step);
            }
        }
        for (const Rank& rank : ranks_) {
            for (bool is_done : rank.is_done) {
                if (!is_done) throw std::logic_error("some steps can never run");
            }
        }
    }

    [[nodiscard]] Names& at(std::int32_t rank, const Place& place) {
        return ranks_[static_cast<std::size_t>(rank)]
            .chunks[static_cast<std::size_t>(place.buffer)][place.chunk];
    }
    [[nodiscard]] Names& output(std::int32_t rank, std::uint32_t chunk) {
        return at(rank, {BufferId::output, chunk});
    }
    /// The longest chain of messages each of which needs the one before.
    [[nodiscard]] std::uint32_t depth() const { return depth_; }

  private:
    struct Rank {
        explicit Rank(const Schedule& schedule)
            : waiting_for(schedule.predecessor_counts),
              is_done(schedule.steps.size(), false),
              depths(schedule.steps.size(), 0) {}
        std::array<std::map<std::uint32_t, Names>, 4> chunks;
        std::vector<std::uint32_t> waiting_for;
        std::vector<bool> is_done;
        std::vector<std::uint32_t> depths;
    };
    struct Message {
        std::vector<Names> chunks;
        std::uint32_t depth = 0;
    };

    bool try_step(std::size_t rank, std::uint32_t index) {
        Rank& state = ranks_[rank];
        const Step& step = schedules_[rank].steps[index];
        if (state.is_done[index] || state.waiting_for[index] > 0) return false;
        const auto self = static_cast<std::int32_t>(rank);
        if (step.kind == StepKind::recv) {
            const auto found = messages_.find({step.peer, self, step.lane, step.order});
            if (found == messages_.end()) return false;
            for (std::uint32_t i = 0; i < step.length; ++i)
                at(self, place_in(step.target, i)) = found->second.chunks[i];
            state.depths[index] = std::max(state.depths[index], found->second.depth + 1);
            depth_ = std::max(depth_, state.depths[index]);
        } else if (step.kind == StepKind::send) {
            Message message{{}, state.depths[index]};
            for (std::uint32_t i = 0; i < step.length; ++i)
                message.chunks.push_back(at(self, place_in(step.source, i)));
            messages_[{self, step.peer, step.lane, step.order}] = std::move(message);
        } else {
            for (std::uint32_t i = 0; i < step.length; ++i) {
                Names result = at(self, place_in(step.source, i));
                if (step.kind == StepKind::reduce) {
                    const Names& right = at(self, place_in(step.right, i));
                    result.insert(result.end(), right.begin(), right.end());
                }
                at(self, place_in(step.target, i)) = std::move(result);
            }
        }
        state.is_done[index] = true;
        for (std::uint32_t next : schedules_[rank].successors_of(index)) {
            --state.waiting_for[next];
            state.depths[next] = std::max(state.depths[next], state.depths[index]);
        }
        return true;
    }

    static Place place_in(const Place& first, std::uint32_t index) {
        return {first.buffer, first.chunk + index};
    }

    const std::vector<Schedule>& schedules_;
    std::vector<Rank> ranks_;
    std::map<std::tuple<std::int32_t, std::int32_t, std::uint16_t, std::uint32_t>, Message>
        messages_;
    std::uint32_t depth_ = 0;
};

}  // namespace dlrt::coll
