// SPDX-License-Identifier: Apache-2.0
/// A schedule as text for people, one step per line.
///
///     allreduce ring, rank 1 of 3: 3 chunks (split), 0 in scratch
///       0  recv    output[0] from 0
///       1  send    input[1] to 2
///       2  reduce  output[0] op input[0] to output[0]  after 0
#pragma once

#include "collectives/schedule.hpp"

#include <string>

namespace dlrt::coll {

[[nodiscard]] std::string print(const Schedule& schedule);

}  // namespace dlrt::coll
