// SPDX-License-Identifier: Apache-2.0
/// A word in shared memory on which one thread of one process sleeps until somebody rings.
///
/// The sleeper:                               A ringer:
///   bell.announce_sleep(kind);                 publish the work (release store);
///   if (there is work) bell.cancel_sleep();    bell.ring(…);
///   else bell.sleep_futex(…);
///
/// No wake-up is lost: either the sleeper's re-check sees the work or the ringer sees the
/// announcement. That needs a full barrier on both sides. Where the kernel offers membarrier
/// (MEMBARRIER_CMD_GLOBAL_EXPEDITED) the sleeper executes it on behalf of all registered ringers,
/// so that ringing an awake peer costs two loads of one line. A ringer fences itself when it is not
/// registered or when the owner has not said that it uses membarrier; zero-filled memory means
/// "fence".
#pragma once

#include "runtime/base/bytes.hpp"

#include <atomic>
#include <cstdint>

namespace dlrt {

enum class SleepKind : std::uint32_t {
    awake = 0,
    futex = 1,       ///< Asleep on `sequence`.
    descriptor = 2,  ///< Asleep in poll/epoll that includes the rank's doorbell eventfd.
    helper = 3,      ///< The owner is away; its helper sleeps on `sequence`.
};

/// What this process as a ringer must do: registered with membarrier, or fence by itself.
enum class RingFence : std::uint8_t { full, membarrier };

struct alignas(no_sharing_bytes) Doorbell {
    std::atomic<std::uint32_t> sequence;               ///< Grows with every wake-up.
    std::atomic<std::uint32_t> sleeping;               ///< A SleepKind.
    std::atomic<std::uint32_t> owner_uses_membarrier;  ///< 1 once the owner has registered.

    /// Owner, once, before its first sleep.
    void adopt(RingFence fence);

    /// Sleeper's thread only.
    void announce_sleep(SleepKind kind);
    void cancel_sleep();
    /// Sleeps until rung, or until timeout_ns passes (negative: for ever). Clears the announcement.
    void sleep_futex(std::int64_t timeout_ns);
    /// The helper's thread only: sleeps until rung while SleepKind::helper is announced, by
    /// whomever and whenever that is. `sequence_seen`: from before the last look for work.
    void sleep_as_helper(std::uint32_t sequence_seen);

    /// True when a ringer must fence between publishing and looking at anything of the sleeper's.
    [[nodiscard]] bool needs_fence(RingFence fence) const {
        return fence == RingFence::full ||
               owner_uses_membarrier.load(std::memory_order_relaxed) == 0;
    }
    /// Any thread of any process that maps the word, after it has published its work. Returns
    /// SleepKind::descriptor when the caller must now write the owner's eventfd, else awake.
    [[nodiscard]] SleepKind ring(RingFence fence);
};

static_assert(sizeof(Doorbell) == no_sharing_bytes);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Registers this process for membarrier, once. RingFence::full when the kernel refuses, and under
/// ThreadSanitizer, which cannot see membarrier.
[[nodiscard]] RingFence register_ring_fence();

}  // namespace dlrt
