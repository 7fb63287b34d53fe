// SPDX-License-Identifier: Apache-2.0
/// What a caller asks of a collective operation, checked and in the core's words. A value; what it
/// points to outlives the call, and the buffers outlive the operation.
#pragma once

#include "collectives/schedule.hpp"
#include "runtime/engine.hpp"
#include "runtime/reducer.hpp"

#include <cstdint>
#include <span>

namespace dlrt {

/// One block for each rank, of any size and place: the forms with counts and displacements.
struct BlockList {
    std::span<const std::int64_t> counts;
    /// Where each begins, in `displacement_unit`; empty: one after the other.
    std::span<const std::int64_t> displacements;
    enum class Unit : std::uint8_t { extents, bytes } displacement_unit = Unit::extents;
    /// One for all or one for each.
    std::span<const LayoutRef* const> layouts;
};

/// Buffers follow MPI. `count` is the elements of the vector, or of one block.
struct CollectiveCall {
    coll::Collective collective = coll::Collective::barrier;
    std::int32_t root = 0;
    ConstBuffer input;
    Buffer output;
    const Reducer* reducer = nullptr;  ///< Of a reduction; read during the call only.
    /// The input is in the output, as coll::Placement says.
    bool is_in_place = false;
    /// Replace the blocks of input or output where they differ: of gather's root, scatter's root,
    /// allgather's output, both of alltoall, reduce_scatter's input (counts only). Exchanges
    /// between neighbours have them always, with a block for each neighbour.
    const BlockList* input_list = nullptr;
    const BlockList* output_list = nullptr;

    [[nodiscard]] bool is_uneven() const {
        return input_list != nullptr || output_list != nullptr || has_uneven_others ||
               is_between_groups;
    }
    /// On a communicator between two groups. Movements have lists then, with a block for each
    /// partner or one for all. Reductions have the vector as their input, at those that contribute,
    /// and an output at those that get the result. `root` is one of coll::TwoGroups.
    bool is_between_groups = false;
    /// Other ranks have lists: a gather's or scatter's rank that is not the root.
    bool has_uneven_others = false;
};

}  // namespace dlrt
