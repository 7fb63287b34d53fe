// SPDX-License-Identifier: Apache-2.0
/// k-nomial reduction with radix 4: the k-nomial broadcast's tree upwards. Subtrees are intervals
/// of ranks, so the operands meet in the order of ranks for every root.
///
/// Cost ceil(log4 p) levels of three messages: ceil(log4 p) (alpha + 3 (n beta + n gamma)); any p,
/// any root. Best for short vectors where messages can be received faster than they travel.
/// Source: folklore; the tree is that of tree.hpp.
///
///   p = 16, root 0:   1 2 3 > 0   5 6 7 > 4   9 10 11 > 8   13 14 15 > 12   then   4 8 12 > 0
#include "collectives/algorithms.hpp"
#include "collectives/tree_reduction.hpp"

namespace dlrt::coll {

Schedule reduce_knomial(const Shape& shape) {
    ScheduleBuilder builder({Collective::reduce, "knomial", ChunkRule::split, 1}, shape);
    return reduce_over_tree(
        std::move(builder), shape, interval_tree(shape.size, shape.rank, shape.root, 4)
    );
}

}  // namespace dlrt::coll
