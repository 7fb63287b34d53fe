// SPDX-License-Identifier: Apache-2.0
/// The short way of small blocking collectives: programs make the same call over and over, with
/// other buffers or the same. What was found out about a call when it was made first is kept, so
/// that the next one only looks at its buffers. Only calls over cells (runtime/host_collective.hpp)
/// of elements without gaps, with dlrt's own reductions.
///
/// Each surface has its own. Thread: one; whoever comes with several takes the careful way.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/communicator.hpp"
#include "runtime/flight_recorder.hpp"
#include "runtime/host_collective.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace dlrt {

/// A blocking collective as its caller describes it; what it lacks is null or 0. Handles are those
/// of a surface, bit by bit.
struct RecentCall {
    coll::Collective collective = coll::Collective::barrier;
    bool is_in_place = false;
    std::int32_t root = 0;
    std::uint64_t comm = 0;
    const void* input = nullptr;
    void* output = nullptr;  ///< Also of a broadcast.
    std::int64_t count = 0;
    std::uint64_t type = 0;
    /// Of the output, where a surface lets it differ.
    std::int64_t output_count = 0;
    std::uint64_t output_type = 0;
    std::uint64_t op = 0;
};

class DLRT_CORE RecentCalls {
  public:
    /// Makes the call if one like it was made before and its buffers are good; none: take the
    /// careful way, which finds the words for what is wrong.
    [[nodiscard]] std::optional<Status> repeat(FlightRecorder& flight, const RecentCall& call);
    /// The call has just been made, the careful way. REQUIRES: the handles of its types and
    /// operation never stand for anything else.
    void note(const RecentCall& call, Communicator& comm, const FlightRecorder::Operation& record);
    /// Before a communicator goes.
    void forget() { entries_ = {}; }

  private:
    struct Entry {
        RecentCall call;
        Communicator* comm = nullptr;  ///< Null: the entry is empty.
        HostCollective::Plan plan;
        Reducer reducer;
        /// Of all blocks; 0 where the call has no such buffer.
        std::uint64_t input_bytes = 0;
        std::uint64_t output_bytes = 0;
        FlightRecorder::Operation record;  ///< But for the number.
    };
    static constexpr std::size_t entry_count = 32;

    [[nodiscard]] Entry& entry_for(const RecentCall& call);

    std::array<Entry, entry_count> entries_;
};

}  // namespace dlrt
