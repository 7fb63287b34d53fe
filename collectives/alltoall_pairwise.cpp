// SPDX-License-Identifier: Apache-2.0
/// Pairwise all-to-all: in round k the ranks whose numbers add up to k, modulo p, exchange their
/// blocks. Each rank has at most one message each way under way, whatever the others do.
///
/// Cost (p - 1) (alpha + n/p beta) in p rounds, in one of which each rank has no partner; any p.
/// Best for long blocks. In place it saves a block at a time, in two places of scratch.
/// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", 2005, there with the numbers' exclusive or and a power of two.
///
///   p = 4:   round 0: 1<>3   1: 0<>1 2<>3   2: 0<>2   3: 0<>3 1<>2
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {

Schedule alltoall_pairwise(const Shape& shape) {
    const std::int32_t size = shape.size;
    const auto block_count = static_cast<std::uint32_t>(size);
    ScheduleBuilder builder(
        {Collective::alltoall, "pairwise", ChunkRule::block, block_count, OperandOrder::by_rank, 1},
        shape
    );
    const bool is_in_place = shape.placement == Placement::in_place;
    const auto own = static_cast<std::uint32_t>(shape.rank);
    if (!is_in_place) builder.copy(input_slice(own), output_slice(own));
    struct Exchange {
        ScheduleBuilder::StepIndex recv, send;
    };
    std::vector<Exchange> exchanges;
    for (std::int32_t round = 0; round < size; ++round) {
        const std::int32_t peer = (round - shape.rank + size) % size;
        if (peer == shape.rank) continue;
        const auto block = static_cast<std::uint32_t>(peer);
        Slice outgoing = input_slice(block);
        if (is_in_place) {
            outgoing = scratch_slice(static_cast<std::uint32_t>(exchanges.size() % 2));
            builder.copy(output_slice(block), outgoing);
        }
        const auto recv = builder.recv(peer, output_slice(block));
        const auto send = builder.send(peer, outgoing);
        if (!exchanges.empty()) {
            builder.order(exchanges.back().recv, recv);
            builder.order(exchanges.back().send, send);
        }
        exchanges.push_back({recv, send});
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
