// SPDX-License-Identifier: Apache-2.0
/// Writes this rank's flight ring: a few plain stores per operation; time is read only when it
/// begins to wait.
///
/// The surface enters each call; the engine stamps the newest entered record when it stops
/// spinning. Thread: as the engine's calls (under its lock in ThreadMode::multiple).
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <cstdint>

namespace dlrt {

class DLRT_CORE FlightRecorder {
  public:
    explicit FlightRecorder(FlightRing& ring) : ring_(&ring) {}

    struct Operation {
        Call call = Call::none;
        std::int32_t peer = -1;
        std::int32_t tag = 0;
        std::uint64_t context = 0;
        std::uint64_t size_bytes = 0;
        std::uint64_t arguments_hash = 0;
    };
    /// Returns the record's sequence number, for finish().
    std::uint64_t enter(const Operation& operation);
    /// The operation of that number now waits (called by the engine once per wait, after spinning).
    void mark_waiting(std::uint64_t sequence);
    void finish(std::uint64_t sequence);
    /// The newest entered and unfinished one of this thread's call; what the engine stamps.
    [[nodiscard]] std::uint64_t current() const { return current_; }

  private:
    FlightRing* ring_;
    std::uint64_t current_ = 0;
};

}  // namespace dlrt
