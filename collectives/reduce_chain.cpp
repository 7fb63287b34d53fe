// SPDX-License-Identifier: Apache-2.0
/// Pipelined chains: partial sums go from the last rank down to the root and from rank 0 up to it,
/// in k = 32 chunks, each passed on while the next one arrives.
///
/// Cost (p - 2 + k) (alpha + n/k (beta + gamma)) when the root is the first rank or the last;
/// between them the chains are shorter, but the root takes in 2 n. Any p. Best for very long
/// vectors and few ranks. Operands meet in the order of ranks, for which one chain around all
/// ranks would not do. Source: folklore; the chains are those of tree.hpp.
///
///   p = 5, root 1:   4>3>2>1   0>1
#include "collectives/algorithms.hpp"
#include "collectives/tree_reduction.hpp"

namespace dlrt::coll {

Schedule reduce_chain(const Shape& shape) {
    constexpr std::uint32_t chunk_count = 32;
    constexpr std::uint32_t window = 4;
    ScheduleBuilder builder({Collective::reduce, "chain", ChunkRule::split, chunk_count}, shape);
    const TreePosition position = chain_tree(shape.size, shape.rank, shape.root);
    const bool is_root = position.parent < 0;
    const bool is_in_place = is_root && shape.placement == Placement::in_place;
    // Who is not the root has one operand to receive at most, and it lands where the sum will be.
    TreeReduction reduction(builder, position, shape.rank, {0, window});
    for (std::uint32_t chunk = 0; chunk < chunk_count; ++chunk) {
        const Slice own = is_in_place ? output_slice(chunk) : input_slice(chunk);
        const Slice sum = is_root ? output_slice(chunk) : scratch_slice(chunk % window, chunk);
        const Slice value = reduction.reduce_subtree(own, sum);
        if (!is_root) builder.send(position.parent, value);
        if (shape.size == 1 && !is_in_place) builder.copy(own, sum);
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
