// SPDX-License-Identifier: Apache-2.0
/// The result of an operation, for any kind of values: executes the steps on them and compares what
/// is left in the buffers with what the collective promises. One thread at a time.
///
/// A kind of values has: Value, whose default is nothing; leaf(rank, chunk); combine(left, right),
/// without a value where it sees that they must not be combined; holds(value, content);
/// is_by_rank(value); is_same(value, value) for equal expressions; text(value).
#pragma once

#include "collectives/contract.hpp"
#include "collectives/verify_parts.hpp"

#include <array>
#include <optional>
#include <unordered_map>

namespace dlrt::coll {

template<typename Values>
class ValueCheck {
  public:
    using Value = typename Values::Value;

    ValueCheck(const AllSteps& steps, Values& values, Findings& findings)
        : steps_(steps), schedules_(steps.schedules()), values_(values), findings_(findings) {
        fill_buffers();
    }

    void run(const Execution& execution) {
        for (const StepId id : execution.order) {
            const StepId partner = execution.partners[id];
            if (partner == no_step) {
                apply(id);
            } else {
                transfer(id, partner);
            }
            if (findings_.has_fault()) return;
        }
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) check_result(rank);
    }

  private:
    Value* at(std::size_t rank, const Place& place) {
        return &values_at_[first_[rank][static_cast<std::size_t>(place.buffer)] + place.chunk];
    }

    void fill_buffers() {
        first_.resize(schedules_.size());
        std::size_t count = 1;  // A message without data reads none of them, and names the first.
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            for (BufferId buffer : {BufferId::input, BufferId::output, BufferId::scratch}) {
                first_[rank][static_cast<std::size_t>(buffer)] = count;
                count += buffer_chunks(schedules_[rank], buffer);
            }
        }
        values_at_.resize(count + 1);
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            for (BufferId buffer : {BufferId::input, BufferId::output})
                fill_buffer(schedules_[rank], buffer);
        }
    }

    void fill_buffer(const Schedule& schedule, BufferId buffer) {
        const auto rank = static_cast<std::size_t>(schedule.shape.rank);
        const std::uint32_t count = buffer_chunks(schedule, buffer);
        for (std::uint32_t chunk = 0; chunk < count; ++chunk) {
            const Place place{buffer, chunk};
            const Content content = content_before(schedule, place);
            if (content.kind == Content::Kind::of_rank)
                *at(rank, place) = values_.leaf(content.rank, content.chunk);
        }
    }

    void apply(StepId id) {
        const std::size_t rank = steps_.rank_of(id);
        const Step& step = steps_[id];
        const bool is_reduce = step.kind == StepKind::reduce;
        const Value* const left = at(rank, step.source);
        const Value* const right = is_reduce ? at(rank, step.right) : left;
        Value* const target = at(rank, step.target);
        for (std::uint32_t i = 0; i < step.length; ++i) {
            if (left[i] == Value{} || right[i] == Value{}) {
                findings_.report(
                    FaultKind::result, "rank {} step {}: reads what nobody has written", rank,
                    steps_.index_of(id)
                );
                return;
            }
            const std::optional<Value> result = is_reduce ? values_.combine(left[i], right[i])
                                                          : std::optional(left[i]);
            if (!result) {
                findings_.report(
                    FaultKind::result, "rank {} step {}: combines {} with {}", rank,
                    steps_.index_of(id), values_.text(left[i]), values_.text(right[i])
                );
                return;
            }
            target[i] = *result;
        }
    }

    void transfer(StepId send, StepId recv) {
        const std::size_t sender = steps_.rank_of(send);
        const Value* const source = at(sender, steps_[send].source);
        Value* const target = at(steps_.rank_of(recv), steps_[recv].target);
        for (std::uint32_t i = 0; i < steps_[send].length; ++i) {
            if (source[i] == Value{}) {
                findings_.report(
                    FaultKind::result, "rank {} step {}: sends what nobody has written", sender,
                    steps_.index_of(send)
                );
            }
            target[i] = source[i];
        }
    }

    // No step writes the input, by check_bounds().
    void check_result(std::size_t rank) {
        const std::uint32_t count = buffer_chunks(schedules_[rank], BufferId::output);
        for (std::uint32_t chunk = 0; chunk < count && !findings_.has_fault(); ++chunk)
            check_chunk(rank, {BufferId::output, chunk});
    }

    void check_chunk(std::size_t rank, const Place& place) {
        const Content content = content_after(schedules_[rank], place);
        if (content.kind == Content::Kind::unspecified) return;
        const Value held = *at(rank, place);
        if (held == Value{} || !values_.holds(held, content)) {
            findings_.report(
                FaultKind::result, "rank {}: {}[{}] ends with {}", rank, name_of(place.buffer),
                place.chunk, held == Value{} ? "nothing" : values_.text(held)
            );
            return;
        }
        if (content.kind == Content::Kind::of_rank) return;
        const bool needs_order = schedules_[rank].operand_order == OperandOrder::by_rank ||
                                 content.kind == Content::Kind::of_prefix;
        if (needs_order && !values_.is_by_rank(held)) {
            findings_.report(
                FaultKind::result, "rank {}: output[{}] is not reduced in the order of ranks", rank,
                place.chunk
            );
        }
        if (schedules_[rank].collective == Collective::allreduce) check_agreement(rank, place);
    }

    void check_agreement(std::size_t rank, const Place& place) {
        const Value held = *at(rank, place);
        const auto [known, is_new] = agreed_.try_emplace(place.chunk, held);
        if (values_.is_same(known->second, held)) return;
        findings_.report(
            FaultKind::result, "rank {}: output[{}] is reduced otherwise than elsewhere", rank,
            place.chunk
        );
    }

    const AllSteps& steps_;
    std::span<const Schedule> schedules_;
    Values& values_;
    Findings& findings_;
    std::vector<std::array<std::size_t, 4>> first_;    ///< By rank and buffer, in values_at_.
    std::vector<Value> values_at_;                     ///< By rank, buffer, chunk.
    std::unordered_map<std::uint32_t, Value> agreed_;  ///< allreduce: by chunk.
};

}  // namespace dlrt::coll
