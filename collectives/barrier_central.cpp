// SPDX-License-Identifier: Apache-2.0
/// Central barrier: everybody signals to rank 0, and rank 0 back to everybody.
///
/// Cost 2 (p - 1) alpha at rank 0, with 2 (p - 1) messages; any p. Best for two ranks or three, and
/// where all but rank 0 shall have little to do. Source: folklore.
///
///   p = 4:   1>0 2>0   3>0   then   0>1 0>2 0>3
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule barrier_central(const Shape& shape) {
    ScheduleBuilder builder({Collective::barrier, "central", ChunkRule::split, 1}, shape);
    if (shape.rank > 0) {
        builder.send(0, no_data());
        builder.recv(0, no_data());
        return std::move(builder).finish();
    }
    // The last receive comes after all others, so that it alone speaks for all: fewer edges than
    // from each receive to each send.
    const std::int32_t last = shape.size - 1;
    std::vector<ScheduleBuilder::StepIndex> earlier;
    for (std::int32_t peer = 1; peer < last; ++peer)
        earlier.push_back(builder.recv(peer, no_data()));
    if (last == 0) return std::move(builder).finish();
    const auto all_heard = builder.recv(last, no_data());
    for (const auto recv : earlier) builder.order(recv, all_heard);
    for (std::int32_t peer = 1; peer <= last; ++peer) {
        const auto back = builder.send(peer, no_data());
        // For the one signal of two ranks there is nothing to wait for.
        if (last > 1) builder.order(all_heard, back);
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
