// SPDX-License-Identifier: Apache-2.0
/// One rank's part in a reduction up a tree: it adds its children's sums to its own operand, in the
/// order of ranks. For a pipeline, chunk by chunk. One thread at a time.
#pragma once

#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

class TreeReduction {
  public:
    /// Scratch places from first on, in which operands land in turn: as many as may arrive while
    /// others are being added.
    struct Landings {
        std::uint32_t first = 0;
        std::uint32_t count = 2;
    };
    TreeReduction(
        ScheduleBuilder& builder, const TreePosition& position, std::int32_t rank,
        const Landings& landings, std::uint16_t lane = 0
    )
        : builder_(builder), position_(position), rank_(rank), landings_(landings), lane_(lane) {}

    /// Receives and adds; returns where the reduction over the subtree lies: in `sum`, or in `own`
    /// when there are no children. Both slices are of the same chunk, and may be the same.
    Slice reduce_subtree(const Slice& own, const Slice& sum);

  private:
    ScheduleBuilder& builder_;
    const TreePosition& position_;
    std::int32_t rank_;
    Landings landings_;
    std::uint16_t lane_;
    std::uint32_t landed_ = 0;
};

/// The whole schedule of a reduction up the tree, and of an all-reduce up the tree and down again;
/// the vector is one chunk.
[[nodiscard]] Schedule reduce_over_tree(
    ScheduleBuilder&& builder, const Shape& shape, const TreePosition& position
);
[[nodiscard]] Schedule allreduce_over_tree(
    ScheduleBuilder&& builder, const Shape& shape, const TreePosition& position
);

}  // namespace dlrt::coll
