// SPDX-License-Identifier: Apache-2.0
/// Tree barrier: signals climb a binomial tree to rank 0 and come down again.
///
/// Cost 2 L alpha, but only 2 (p - 1) messages; any p. Best where messages cost more than rounds;
/// with sleeping ranks on shared memory they don't, because its chain of wake-ups is twice as long.
/// Source: folklore; the tree is that of tree.hpp.
///
///   p = 8:   7>6 6>4 5>4 3>2 4>0 2>0 1>0   then   0>4 0>2 0>1 4>6 4>5 2>3 6>7
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {

Schedule barrier_tree(const Shape& shape) {
    ScheduleBuilder builder({Collective::barrier, "tree", ChunkRule::split, 1}, shape);
    const TreePosition position = interval_tree(shape.size, shape.rank, 0);
    struct Signal {
        std::int32_t from;
        ScheduleBuilder::StepIndex step;
    };
    std::vector<Signal> received;
    for (auto child = position.children.rbegin(); child != position.children.rend(); ++child) {
        received.push_back({child->rank, builder.recv(child->rank, no_data())});
    }
    if (position.parent >= 0) {
        const auto up = builder.send(position.parent, no_data());
        for (const Signal& signal : received) builder.order(signal.step, up);
        received.push_back({position.parent, builder.recv(position.parent, no_data())});
    }
    for (const TreeChild& child : position.children) {
        const auto down = builder.send(child.rank, no_data());
        for (const Signal& signal : received) {
            // A child knows of its own subtree, and the parent's signal need not speak of ours.
            if (signal.from != child.rank) builder.order(signal.step, down);
        }
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
