// SPDX-License-Identifier: Apache-2.0
/// Binomial reduction: the broadcast's tree upwards. Subtrees are intervals of ranks, so the
/// operands meet in the order of ranks for every root, and the operation needs not commute.
///
/// Cost L (alpha + n beta + n gamma); any p, any root. Best for short vectors; for two ranks
/// always. Source: folklore; the tree is that of tree.hpp.
///
///   p = 8, root 0:   round 0: 1>0 3>2 5>4 7>6   round 1: 2>0 6>4   round 2: 4>0
#include "collectives/algorithms.hpp"
#include "collectives/tree_reduction.hpp"

namespace dlrt::coll {

Schedule reduce_binomial(const Shape& shape) {
    ScheduleBuilder builder({Collective::reduce, "binomial", ChunkRule::split, 1}, shape);
    return reduce_over_tree(
        std::move(builder), shape, interval_tree(shape.size, shape.rank, shape.root)
    );
}

}  // namespace dlrt::coll
