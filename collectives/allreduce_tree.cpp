// SPDX-License-Identifier: Apache-2.0
/// Tree all-reduce: a binomial reduction to rank 0, then the broadcast down the same tree.
///
/// Cost 2 L (alpha + n beta) + L n gamma, but only 2 (p - 1) messages; any p. Best where messages
/// cost more than rounds, as with many ranks to a core. Operands meet in the order of ranks.
/// Source: folklore; the tree is that of tree.hpp.
///
///   p = 4:   1>0 3>2   2>0   then   0>2   0>1 2>3
#include "collectives/algorithms.hpp"
#include "collectives/tree_reduction.hpp"

namespace dlrt::coll {

Schedule allreduce_tree(const Shape& shape) {
    ScheduleBuilder builder({Collective::allreduce, "tree", ChunkRule::split, 1}, shape);
    return allreduce_over_tree(std::move(builder), shape, interval_tree(shape.size, shape.rank, 0));
}

}  // namespace dlrt::coll
