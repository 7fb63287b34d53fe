// SPDX-License-Identifier: Apache-2.0
/// k-nomial broadcast with radix 4: who has the vector sends it to the other three quarters of its
/// interval, and all four go on.
///
/// Cost ceil(log4 p) levels of three sends: ceil(log4 p) (alpha + 3 n beta); any p, any root. Best
/// for short vectors where messages can be sent faster than they travel. Source: folklore; the
/// tree is that of tree.hpp.
///
///   p = 16, root 0:   0 > 12 8 4   then   0 > 3 2 1   4 > 7 6 5   8 > 11 10 9   12 > 15 14 13
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

Schedule bcast_knomial(const Shape& shape) {
    ScheduleBuilder builder({Collective::bcast, "knomial", ChunkRule::split, 1}, shape);
    const TreePosition position = interval_tree(shape.size, shape.rank, shape.root, 4);
    if (position.parent >= 0) builder.recv(position.parent, output_slice(0));
    for (const TreeChild& child : position.children) builder.send(child.rank, output_slice(0));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
