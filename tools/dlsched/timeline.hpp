// SPDX-License-Identifier: Apache-2.0
/// When each step of an operation runs, on a simple machine.
///
/// Every rank has one port for sending and one for receiving (the full-duplex model of Bruck et al.
/// 1997), and one core that reduces and copies. A message takes `latency`, and `per_chunk` for each
/// of its chunks; it begins when its receive has been started too, and both ports are busy until it
/// ends. Pure.
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlrt::sched {

struct Machine {
    double latency = 1;
    double per_chunk = 1;
    double reduce_per_chunk = 0.25;
    double copy_per_chunk = 0.25;
};

struct Interval {
    double begin = 0;
    double end = 0;
};

struct Message {
    std::int32_t source = 0;
    std::int32_t target = 0;
    std::uint32_t send_step = 0;
    std::uint32_t recv_step = 0;
    Interval time;
};

struct Timeline {
    std::vector<std::vector<Interval>> steps;  ///< By rank and step.
    std::vector<Message> messages;             ///< In the order in which they begin.
    double end = 0;
};

/// REQUIRES: schedules by rank, in which find_fault() finds nothing.
[[nodiscard]] Timeline simulate(std::span<const coll::Schedule> schedules, const Machine& machine);

}  // namespace dlrt::sched
