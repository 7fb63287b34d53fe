// SPDX-License-Identifier: Apache-2.0
/// Reduce-scatter in which all ranks do the same with turned numbers: a rank counts blocks from its
/// own on; in each round it passes the upper ones of those that it still has to the rank as far
/// above, where they are the lower ones, and adds what it gets from below.
#pragma once

#include "collectives/circulant.hpp"

#include <span>

namespace dlrt::coll {

/// Adds the steps; the sum of the rank's own block ends in the output. REQUIRES: more than one
/// rank; the rounds go from the farthest to the nearest, which is at distance 1, and before each of
/// them distance + length blocks are left, length <= distance.
void reduce_around(
    ScheduleBuilder& builder, const Shape& shape, std::span<const CirculantRound> rounds
);

}  // namespace dlrt::coll
