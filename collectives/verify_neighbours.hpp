// SPDX-License-Identifier: Apache-2.0
/// Proves the schedules of a neighbourhood exchange: all that find_fault() proves of others, but
/// the result is compared with the neighbours themselves, edge by edge. Pure.
#pragma once

#include "collectives/neighbour_exchange.hpp"
#include "collectives/verify.hpp"

#include <optional>
#include <span>

namespace dlrt::coll {

/// REQUIRES: schedules and neighbours by rank, equally many. Nothing when they are right.
[[nodiscard]] std::optional<Fault> find_neighbour_fault(
    std::span<const Schedule> schedules, std::span<const Neighbours> neighbours
);

}  // namespace dlrt::coll
