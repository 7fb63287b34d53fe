// SPDX-License-Identifier: Apache-2.0
/// Writes this rank's flight ring: a few plain stores per operation; time is read only when it
/// begins to wait.
///
/// The surface enters each call; the engine stamps the newest entered record when it stops
/// spinning. Thread: one at a time; any after allow_threads().
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <atomic>
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
    /// What current() yields when this thread is in no call; the functions below ignore it.
    static constexpr std::uint64_t no_operation = ~std::uint64_t{0};

    /// Before a second thread enters. REQUIRES: nobody is inside.
    void allow_threads() { is_shared_ = true; }
    /// Returns the record's sequence number, for finish().
    std::uint64_t enter(const Operation& operation);
    /// The operation of that number now waits (called by the engine once per wait, after spinning).
    void mark_waiting(std::uint64_t sequence);
    void finish(std::uint64_t sequence);
    /// The newest entered and unfinished one of this thread; what the engine stamps.
    [[nodiscard]] static std::uint64_t current();
    /// After allow_threads(): whether threads besides the calling one have entered and not
    /// finished.
    [[nodiscard]] bool has_other_threads_inside() const;

  private:
    FlightRing* ring_;
    bool is_shared_ = false;
    std::atomic<std::uint32_t> inside_count_{0};
};

}  // namespace dlrt
