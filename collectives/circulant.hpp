// SPDX-License-Identifier: Apache-2.0
/// Rounds on a circulant graph: halving p, rounded up, until 1 is left gives the distances between
/// partners, and each round deals with what lies between one distance and the one before it. Blocks
/// are counted from the rank's own: block i of rank r is chunk (r + i) mod p.
///
/// Source: Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2024.
///
///   p = 6: distances 3 2 1, lengths 3 1 1
#pragma once

#include "collectives/schedule_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dlrt::coll {

struct CirculantRound {
    std::uint32_t distance = 0;
    std::uint32_t length = 0;
};

/// From the farthest partner to the nearest; ceil(log2 size) of them.
[[nodiscard]] std::vector<CirculantRound> circulant_rounds(std::int32_t size);

/// Calls visit(chunk, length) for the one or two ranges of chunks without a break that blocks
/// first .. first + length - 1 of the rank are. REQUIRES: length <= size.
template<typename Visit>
void visit_blocks(const Shape& shape, std::uint32_t first, std::uint32_t length, Visit visit) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    const std::uint32_t chunk = (static_cast<std::uint32_t>(shape.rank) + first) % size;
    const std::uint32_t until_break = std::min(length, size - chunk);
    if (until_break > 0) visit(chunk, until_break);
    if (length > until_break) visit(0u, length - until_break);
}

[[nodiscard]] inline std::int32_t rank_above(const Shape& shape, std::uint32_t distance) {
    return (shape.rank + static_cast<std::int32_t>(distance)) % shape.size;
}
[[nodiscard]] inline std::int32_t rank_below(const Shape& shape, std::uint32_t distance) {
    return (shape.rank + shape.size - static_cast<std::int32_t>(distance)) % shape.size;
}

/// Adds the steps of an all-gather of as many chunks as ranks. REQUIRES: the rank's own chunk is in
/// the output.
void gather_around(ScheduleBuilder& builder, const Shape& shape);

}  // namespace dlrt::coll
