// SPDX-License-Identifier: Apache-2.0
/// Compares operations from two roots.
#include "collectives/verify.hpp"

namespace dlrt::coll {
namespace {

/// All but who the peer is.
bool is_same_work(const Step& first, const Step& second) {
    return first.kind == second.kind && first.lane == second.lane && first.order == second.order &&
           first.length == second.length && first.like == second.like &&
           first.source == second.source && first.right == second.right &&
           first.target == second.target;
}

bool is_turned_by(const Schedule& first, const Schedule& second, std::int32_t distance) {
    const std::int32_t size = first.shape.size;
    const auto turned = [&](std::int32_t rank) { return (rank + distance) % size; };
    const bool is_same_operation = second.collective == first.collective &&
                                   second.chunk_rule == first.chunk_rule &&
                                   second.operand_order == first.operand_order &&
                                   second.chunk_count == first.chunk_count &&
                                   second.scratch_chunks == first.scratch_chunks &&
                                   second.window == first.window && second.shape.size == size &&
                                   second.shape.placement == first.shape.placement &&
                                   second.shape.rank == turned(first.shape.rank) &&
                                   second.shape.root == turned(first.shape.root);
    if (!is_same_operation || first.steps.size() != second.steps.size()) return false;
    for (std::size_t i = 0; i < first.steps.size(); ++i) {
        const Step& step = first.steps[i];
        const std::int32_t peer = step.peer < 0 ? step.peer : turned(step.peer);
        if (!is_same_work(step, second.steps[i]) || second.steps[i].peer != peer) return false;
    }
    return first.successor_begin == second.successor_begin &&
           first.successors == second.successors &&
           first.predecessor_counts == second.predecessor_counts;
}

/// Whether what the operation asks for, with all ranks renumbered in a circle, is what it asks for
/// from another root: not where operands have to meet in the order of ranks.
bool means_the_same_turned(const Schedule& schedule) {
    return schedule.collective == Collective::bcast ||
           (schedule.collective == Collective::reduce && schedule.operand_order == OperandOrder::any
           );
}

}  // namespace

bool is_turned(std::span<const Schedule> first, std::span<const Schedule> second) {
    if (first.empty() || first.size() != second.size()) return false;
    if (!means_the_same_turned(first[0])) return false;
    const auto size = static_cast<std::int32_t>(first.size());
    const std::int32_t distance = (second[0].shape.root - first[0].shape.root + size) % size;
    for (std::int32_t rank = 0; rank < size; ++rank) {
        const auto at = static_cast<std::size_t>((rank + distance) % size);
        if (!is_turned_by(first[static_cast<std::size_t>(rank)], second[at], distance))
            return false;
    }
    return true;
}

}  // namespace dlrt::coll
