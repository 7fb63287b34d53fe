// SPDX-License-Identifier: Apache-2.0
/// The schedules of all ranks of one operation, for tests.
#pragma once

#include "collectives/algorithms.hpp"

#include <vector>

namespace dlrt::coll {

/// Which ranks say in_place; those for which it means nothing are built as separate.
enum class Placements : std::uint8_t { none, all, odd_ranks };

inline std::vector<Placements> placements_of(Collective collective) {
    switch (collective) {
        case Collective::barrier:
        case Collective::bcast:
            return {Placements::none};
        case Collective::reduce:
        case Collective::gather:
        case Collective::scatter:
            return {Placements::none, Placements::all};
        case Collective::allreduce:
        case Collective::allgather:
        case Collective::reduce_scatter:
        case Collective::alltoall:
        case Collective::scan:
        case Collective::exscan:
            return {Placements::none, Placements::all, Placements::odd_ranks};
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            return {};
    }
    return {};
}

inline std::vector<Schedule> all_ranks(
    const Algorithm& algorithm, std::int32_t size, std::int32_t root, Placements placements,
    const Groups* groups = nullptr
) {
    std::vector<Schedule> schedules;
    for (std::int32_t rank = 0; rank < size; ++rank) {
        const bool may = !algorithm.has_root || rank == root;
        const bool does = placements == Placements::all ||
                          (placements == Placements::odd_ranks && rank % 2 == 1);
        const Placement placement = may && does ? Placement::in_place : Placement::separate;
        schedules.push_back(algorithm.build({size, rank, root, placement, groups}));
    }
    return schedules;
}

}  // namespace dlrt::coll
