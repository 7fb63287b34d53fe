// SPDX-License-Identifier: Apache-2.0
/// The short way of small blocking collectives: programs make the same call over and over, with
/// other buffers or the same. What was found out about a call when it was made first is kept, so
/// that the next one only looks at its buffers. Only calls over cells (runtime/host_collective.hpp)
/// of elements without gaps, with dlrt's own reductions.
///
/// Thread: one; whoever comes with several takes the careful way.
#pragma once

#include "runtime/api/surface.hpp"
#include "runtime/host_collective.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace dlrt::api {

/// A blocking collective as its caller describes it; what it lacks is null or 0.
struct CollectiveArguments {
    const char* function = nullptr;
    coll::Collective collective = coll::Collective::barrier;
    dlrt_comm comm = {};
    const void* input = nullptr;
    void* output = nullptr;  ///< Also of a broadcast.
    std::int64_t count = 0;
    dlrt_type type = {};
    dlrt_op op = {};
    std::int32_t root = 0;
};

class RecentCalls {
  public:
    /// Makes the call if one like it was made before and its buffers are good; none: take the
    /// careful way, which finds the words for what is wrong.
    [[nodiscard]] std::optional<dlrt_err> repeat(
        const Surface& surface, const CollectiveArguments& arguments
    );
    /// The call has just been made, the careful way.
    void note(
        const CollectiveArguments& arguments, Communicator& comm,
        const FlightRecorder::Operation& record
    );
    /// Before a communicator goes.
    void forget() { entries_ = {}; }

  private:
    enum class Place : std::uint8_t { nothing, separate, in_place };

    struct Entry {
        Place place = Place::nothing;  ///< nothing: the entry is empty.
        /// Their handles are never those of something else: types and operations are dlrt's own,
        /// and forget() sees to communicators.
        CollectiveArguments arguments;
        Communicator* comm = nullptr;
        HostCollective::Plan plan;
        Reducer reducer;
        /// Of all blocks; 0 where the call has no such buffer.
        std::uint64_t input_bytes = 0;
        std::uint64_t output_bytes = 0;
        FlightRecorder::Operation record;  ///< But for the number.
    };
    static constexpr std::size_t entry_count = 32;

    [[nodiscard]] static Place place_of(const CollectiveArguments& arguments);
    [[nodiscard]] Entry& entry_for(const CollectiveArguments& arguments);

    std::array<Entry, entry_count> entries_;
};

/// The short way if there is one, else `careful`.
template<typename Careful>
dlrt_err repeat_or(const CollectiveArguments& arguments, Careful careful) {
    Surface& surface = Surface::get();
    if (surface.is_ready_and_alone()) {
        const auto done = surface.recent_calls().repeat(surface, arguments);
        if (done) return *done;
    }
    return careful();
}

}  // namespace dlrt::api
