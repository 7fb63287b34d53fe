// SPDX-License-Identifier: Apache-2.0
/// What each collective promises: how many chunks a rank's buffers have, what they hold before,
/// what after. Pure.
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>

namespace dlrt::coll {

struct Content {
    enum class Kind : std::uint8_t {
        unspecified,  ///< Before: nothing that may be used. After: anything.
        of_rank,      ///< The chunk that `rank` contributed.
        of_all,       ///< The reduction of the chunk over all ranks, each counted once.
        of_prefix,    ///< The same over ranks 0 .. `rank`, in their order.
    };
    Kind kind = Kind::unspecified;
    std::int32_t rank = -1;
    std::uint32_t chunk = 0;
};

/// Chunks of that buffer that this rank may touch; 0 for buffers that have no meaning here.
[[nodiscard]] std::uint32_t buffer_chunks(const Schedule& schedule, BufferId buffer);

/// Whether it moves one block for each rank; the others work on one vector, the barrier on an empty
/// one.
[[nodiscard]] bool has_blocks(Collective collective);
[[nodiscard]] bool has_reduction(Collective collective);
[[nodiscard]] constexpr bool has_root(Collective collective) {
    return collective == Collective::bcast || collective == Collective::reduce ||
           collective == Collective::gather || collective == Collective::scatter;
}

/// Whether steps may write the buffer.
[[nodiscard]] bool is_writable(BufferId buffer);

/// REQUIRES: place.chunk < buffer_chunks(schedule, place.buffer).
[[nodiscard]] Content content_before(const Schedule& schedule, const Place& place);
[[nodiscard]] Content content_after(const Schedule& schedule, const Place& place);

}  // namespace dlrt::coll
