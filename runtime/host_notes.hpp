// SPDX-License-Identifier: Apache-2.0
/// What the ranks of a host tell each other about their collective calls, in shared memory: at the
/// start of the host segment's collective area. Zero at first.
#pragma once

#include "runtime/base/bytes.hpp"

#include <atomic>
#include <cstdint>

namespace dlrt {

struct HostNotes {
    /// Grows when a rank has found that calls differ: who waits compares, as soon as it is rung.
    alignas(no_sharing_bytes) std::atomic<std::uint32_t> disagreements;
    /// Ranks that have waited in a collective for so long that they have compared calls, and found
    /// nothing. Whoever begins one meanwhile compares: it may need nothing of those, so that nobody
    /// else would notice for some time.
    alignas(no_sharing_bytes) std::atomic<std::uint32_t> long_waiters;
};

}  // namespace dlrt
