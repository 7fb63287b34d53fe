// SPDX-License-Identifier: Apache-2.0
/// van de Geijn's broadcast: a binomial scatter of p chunks, then a ring all-gather that leaves out
/// what its receiver has from the scatter already.
///
/// Cost (L + p - 1) alpha + 2 n (p-1)/p beta; any p, any root. Best for long vectors and more than
/// a few ranks. Source: Barnett, Shuler, van de Geijn, Gupta, Payne, Watts, "Interprocessor
/// collective communication library (InterCom)", 1994; the tree is that of tree.hpp.
///
///   p = 4, root 0:   scatter 0>2: 2 3   0>1: 1   2>3: 3   then   around: 0>1 1>2 2>3, not 3>0
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

Schedule bcast_scatter_allgather(const Shape& shape) {
    const std::int32_t size = shape.size;
    ScheduleBuilder builder(
        {Collective::bcast, "scatter_allgather", ChunkRule::split,
         static_cast<std::uint32_t>(size)},
        shape
    );
    auto chunks_of = [](const Interval& ranks) {
        return output_slice(
            static_cast<std::uint32_t>(ranks.first), static_cast<std::uint32_t>(ranks.size())
        );
    };
    const TreePosition position = interval_tree(size, shape.rank, shape.root);
    if (position.parent >= 0) builder.recv(position.parent, chunks_of(position.below));
    for (const TreeChild& child : position.children) {
        builder.send(child.rank, chunks_of(child.below));
    }
    const std::int32_t next = (shape.rank + 1) % size;
    const std::int32_t previous = (shape.rank + size - 1) % size;
    const Interval next_has = interval_tree(size, next, shape.root).below;
    for (std::int32_t round = 0; round + 1 < size; ++round) {
        const std::int32_t sent = (shape.rank - round + size) % size;
        const std::int32_t received = (previous - round + size) % size;
        if (!position.below.contains(received)) {
            builder.recv(previous, chunks_of({received, received + 1}));
        }
        if (!next_has.contains(sent)) builder.send(next, chunks_of({sent, sent + 1}));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
