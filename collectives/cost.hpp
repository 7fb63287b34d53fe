// SPDX-License-Identifier: Apache-2.0
/// What an operation should cost: runs the schedules of all ranks on a simple machine, in the terms
/// of LogGP (Alexandrov, Ionescu, Schauser, Scheiman, 1995), where a core moves the bytes.
///
/// Each core does one thing at a time, in the order in which things become possible. A message
/// keeps the sender's core, and then the receiver's, busy for the overhead and its bytes; they may
/// overlap as soon as the first byte has arrived. So on cores of their own, a message of n bytes
/// takes 2 overhead + latency + n gap. Senders never wait for receivers. Pure.
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>
#include <span>

namespace dlrt::coll {

/// The standard values are those of a virtual machine with two cores, within one host: what a cache
/// line takes from core to core, what copies take in memory, what sched_yield() takes to switch.
struct Machine {
    double latency_ns = 60;   ///< Of the first byte, from core to core.
    double overhead_ns = 40;  ///< Of a core, for each message that it sends or receives.
    double gap_ns_per_byte = 0.08;
    double reduce_ns_per_byte = 0.1;
    double copy_ns_per_byte = 0.07;
    double switch_ns = 1500;  ///< When a core goes on with another rank.
    /// The same between ranks of different groups, where schedules know groups; they stand for
    /// hosts then. The standard values are those of TCP between virtual machines.
    double between_latency_ns = 3000;
    double between_overhead_ns = 1000;
    double between_gap_ns_per_byte = 0.35;
    /// Of each host. Number r of its ranks is on core r / ceil(ranks / cores); 0: each rank has its
    /// own.
    std::uint32_t cores = 2;
    friend bool operator==(const Machine&, const Machine&) = default;
};

/// When the last rank is done. REQUIRES: schedules by rank in which find_fault() finds nothing;
/// total_bytes are those of the vector, or of as many blocks as there are ranks.
[[nodiscard]] double predict_ns(
    std::span<const Schedule> schedules, std::uint64_t total_bytes, const Machine& machine
);

}  // namespace dlrt::coll
