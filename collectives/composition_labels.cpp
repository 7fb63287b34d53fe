// SPDX-License-Identifier: Apache-2.0
/// Follows chunks through all ranks of a phase, as the verifier does.
#include "collectives/composition.hpp"
#include "collectives/contract.hpp"
#include "collectives/verify_parts.hpp"
#include "runtime/base/check.hpp"

#include <array>

namespace dlrt::coll {
namespace {

constexpr std::uint32_t no_label = UINT32_MAX;

bool is_owner_the_label(Collective collective) {
    return collective == Collective::gather || collective == Collective::allgather;
}

class Follower {
  public:
    explicit Follower(const AllSteps& steps) : steps_(steps), buffers_(steps.schedules().size()) {
        for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
            const Schedule& schedule = steps.schedules()[rank];
            for (BufferId buffer : {BufferId::input, BufferId::output, BufferId::scratch}) {
                auto& labels = buffers_[rank][static_cast<std::size_t>(buffer)];
                for (std::uint32_t i = 0; i < buffer_chunks(schedule, buffer); ++i) {
                    const Content content = content_before(schedule, {buffer, i});
                    const bool is_known = content.kind == Content::Kind::of_rank;
                    labels.push_back(!is_known ? no_label : label_of(schedule, content));
                }
            }
        }
    }

    /// Returns the labels of what the step, or both of a pair, work on.
    std::vector<std::uint32_t> follow(StepId source_step, StepId target_step) {
        const Step& from = steps_[source_step];
        const Step& to = steps_[target_step];
        std::vector<std::uint32_t> labels;
        for (std::uint32_t i = 0; i < from.length; ++i) {
            const std::uint32_t label = at(steps_.rank_of(source_step), shifted(from.source, i));
            DLRT_ASSERT(label != no_label);
            labels.push_back(label);
            at(steps_.rank_of(target_step), shifted(to.target, i)) = label;
        }
        return labels;
    }

  private:
    static std::uint32_t label_of(const Schedule& schedule, const Content& content) {
        return is_owner_the_label(schedule.collective) ? static_cast<std::uint32_t>(content.rank)
                                                       : content.chunk;
    }
    std::uint32_t& at(std::size_t rank, const Place& place) {
        return buffers_[rank][static_cast<std::size_t>(place.buffer)][place.chunk];
    }

    const AllSteps& steps_;
    std::vector<std::array<std::vector<std::uint32_t>, 4>> buffers_;  ///< By rank, buffer, chunk.
};

}  // namespace

std::vector<std::vector<std::uint32_t>> chunk_labels(const Phase& phase, const Schedule& own) {
    std::vector<Schedule> schedules;
    for (std::int32_t rank = 0; rank < own.shape.size; ++rank) {
        Phase other = phase;
        other.self = rank;
        other.placement = Placement::separate;
        schedules.push_back(rank == phase.self ? own : schedule_of(other));
    }
    const AllSteps steps(schedules);
    Findings findings;
    const std::vector<StepId> partners = check_pairing(steps, findings);
    const std::vector<StepId> order = check_deadlock(steps, partners, findings);
    DLRT_ASSERT(!findings.has_fault());
    Follower follower(steps);
    std::vector<std::vector<std::uint32_t>> labels(own.steps.size());
    const auto self = static_cast<std::size_t>(phase.self);
    for (const StepId id : order) {
        const StepId end = partners[id] == no_step ? id : partners[id];
        const std::vector<std::uint32_t> moved = follower.follow(id, end);
        for (const StepId step : {id, end}) {
            if (steps.rank_of(step) == self) labels[steps.index_of(step)] = moved;
        }
    }
    return labels;
}

}  // namespace dlrt::coll
