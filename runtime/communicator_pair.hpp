// SPDX-License-Identifier: Apache-2.0
/// Communicators between two groups: their creation, and others made of them. Collective over both
/// groups.
///
/// The two leaders tell each other their groups over a communicator that they share, and their own
/// groups what they heard; the one of the lower world rank counts as the first and gives the
/// context. So no rank waits for more than its leader, and an error of the leaders is everybody's.
#pragma once

#include "runtime/communicator_create.hpp"

#include <cstdint>

namespace dlrt {

/// How the leaders find each other; read at the leader only.
struct Bridge {
    Communicator* comm = nullptr;
    std::int32_t remote_leader = 0;  ///< Of `comm`.
    std::int32_t tag = 0;            ///< Tells apart creations that two leaders make at once.
};

/// Errors: Errc::group on all ranks when a process is in both groups.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> create_pair(
    Communicator& local, std::int32_t leader, const Bridge& bridge, const ContextSource& new_context
);

enum class MergeOrder : std::uint8_t { low, high };
/// REQUIRES of all below: between groups. All ranks of a group pass the same order: a low group
/// comes before a high one, else the first. Errors: Errc::mismatch when they don't.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> merge_pair(
    Communicator& pair, MergeOrder order, const ContextSource& new_context
);
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> duplicate_pair(
    Communicator& pair, const ContextSource& new_context
);
/// Between those of each group that have the color. Null for a rank without color, and where the
/// other group has nobody of it.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> split_pair(
    Communicator& pair, const SplitChoice& choice, const ContextSource& new_context
);

}  // namespace dlrt
