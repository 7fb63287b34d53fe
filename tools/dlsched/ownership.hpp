// SPDX-License-Identifier: Apache-2.0
/// Who holds how much of what, after each round of messages: what a picture of a collective shows.
/// Pure.
///
/// A piece is a chunk of the vector where it is split, else one rank's block. Of a reduction a rank
/// holds the share of the operands that are in its best copy of the piece; of an all-to-all it
/// holds a rank's piece once it has any block of that rank.
#pragma once

#include "collectives/schedule.hpp"
#include "tools/dlsched/timeline.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlrt::sched {

struct Snapshot {
    double time = 0;
    std::vector<std::vector<double>> shares;  ///< By rank and piece, 0 to 1.
};

struct Ownership {
    std::uint32_t piece_count = 0;    ///< 0 for a barrier.
    std::vector<Snapshot> snapshots;  ///< The beginning, then whenever messages have ended.
};

[[nodiscard]] Ownership find_ownership(
    std::span<const coll::Schedule> schedules, const Timeline& timeline
);

}  // namespace dlrt::sched
