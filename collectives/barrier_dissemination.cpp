// SPDX-License-Identifier: Apache-2.0
/// Dissemination barrier: in round k everybody signals the rank 2^k above and waits for the one 2^k
/// below.
///
/// Cost L alpha, p L messages; any p. Best on shared memory, also where ranks outnumber cores.
/// Source: Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988.
///
///   p = 8, what rank 0 knows of:   round 0: 7 0   round 1: 5 6 7 0   round 2: all
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule barrier_dissemination(const Shape& shape) {
    ScheduleBuilder builder({Collective::barrier, "dissemination", ChunkRule::split, 1}, shape);
    const std::int32_t size = shape.size;
    struct Round {
        std::int32_t distance;
        ScheduleBuilder::StepIndex recv, send;
    };
    std::vector<Round> rounds;
    for (std::int32_t distance = 1; distance < size; distance *= 2) {
        const auto recv = builder.recv((shape.rank - distance + size) % size, no_data());
        const auto send = builder.send((shape.rank + distance) % size, no_data());
        // A signal speaks for what was heard in all earlier rounds; the last one only for what the
        // receiver has not heard itself.
        auto earlier = rounds.rbegin();
        while (earlier != rounds.rend() && earlier->distance >= size - distance) ++earlier;
        if (earlier != rounds.rend()) {
            builder.order(earlier->recv, send);
            const bool is_first = earlier + 1 == rounds.rend();
            if (!is_first) builder.order(earlier->send, send);
        }
        rounds.push_back({distance, recv, send});
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
