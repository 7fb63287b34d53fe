// SPDX-License-Identifier: Apache-2.0
/// Binomial broadcast: who has the vector sends it to the other half of its interval, and both go
/// on.
///
/// Cost L (alpha + n beta); any p, any root. Best for short vectors; for two ranks always.
/// Source: folklore; the tree is that of tree.hpp.
///
///   p = 8, root 0:   round 0: 0>4   round 1: 0>2 4>6   round 2: 0>1 2>3 4>5 6>7
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

Schedule bcast_binomial(const Shape& shape) {
    ScheduleBuilder builder({Collective::bcast, "binomial", ChunkRule::split, 1}, shape);
    const TreePosition position = interval_tree(shape.size, shape.rank, shape.root);
    if (position.parent >= 0) builder.recv(position.parent, output_slice(0));
    for (const TreeChild& child : position.children) builder.send(child.rank, output_slice(0));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
