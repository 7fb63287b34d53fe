// SPDX-License-Identifier: Apache-2.0
/// Centralised all-reduce: rank 0 receives from all, reduces in the order of ranks, and sends to
/// all.
///
/// Cost 2 (p - 1) (alpha + n beta) + (p - 1) n gamma at rank 0; any p. Best for two ranks or three;
/// the yardstick that the others are compared with. The result is ((0 op 1) op 2) …, as a loop over
/// the ranks would compute it. Source: folklore.
///
///   p = 4:   1>0 2>0 3>0   then   0>3 0>2 0>1
#include "collectives/algorithms.hpp"
#include "collectives/tree_reduction.hpp"

namespace dlrt::coll {

Schedule allreduce_centralised(const Shape& shape) {
    ScheduleBuilder builder({Collective::allreduce, "centralised", ChunkRule::split, 1}, shape);
    return allreduce_over_tree(std::move(builder), shape, star_tree(shape.size, shape.rank));
}

}  // namespace dlrt::coll
