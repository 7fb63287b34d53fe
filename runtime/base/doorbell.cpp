// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/doorbell.hpp"

#include <climits>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace dlrt {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool can_use_membarrier = false;
#else
constexpr bool can_use_membarrier = true;
#endif

/// GLOBAL_EXPEDITED interrupts every core on which a registered process runs: some 15 us in a
/// virtual machine, and nearly nothing where the others idle.
long membarrier(int command) {
    return ::syscall(SYS_membarrier, command, 0, 0);
}

/// The owner and its helper may both sleep on the sequence; only one of them is meant.
constexpr std::uint32_t owner_bit = 1;
constexpr std::uint32_t helper_bit = 2;

}  // namespace

RingFence register_ring_fence() {
    if (!can_use_membarrier) return RingFence::full;
    const bool is_registered = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    return is_registered && membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0 ? RingFence::membarrier
                                                                             : RingFence::full;
}

void Doorbell::adopt(RingFence fence) {
    const std::uint32_t wanted = fence == RingFence::membarrier ? 1 : 0;
    const std::uint32_t before = owner_uses_membarrier.exchange(wanted, std::memory_order_seq_cst);
    // Who rings without a fence right now, because it saw the former word, is fenced from here.
    if (before != 0 && wanted == 0) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void Doorbell::announce_sleep(SleepKind kind) {
    // Pairs with the load of `sleeping` in ring().
    sleeping.store(static_cast<std::uint32_t>(kind), std::memory_order_seq_cst);
    if (owner_uses_membarrier.load(std::memory_order_relaxed) != 0) {
        membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    } else {
        // A read-modify-write is a full barrier that ThreadSanitizer understands.
        sequence.fetch_add(0, std::memory_order_seq_cst);
    }
}

void Doorbell::cancel_sleep() {
    sleeping.store(static_cast<std::uint32_t>(SleepKind::awake), std::memory_order_relaxed);
}

void Doorbell::sleep_futex(std::int64_t timeout_ns) {
    const std::uint32_t before = sequence.load(std::memory_order_acquire);
    // A ringer clears the announcement before it raises the sequence: when it is gone, so is the
    // reason.
    if (sleeping.load(std::memory_order_acquire) != static_cast<std::uint32_t>(SleepKind::awake)) {
        timespec limit{};
        if (timeout_ns >= 0) {
            limit.tv_sec = timeout_ns / 1'000'000'000;
            limit.tv_nsec = timeout_ns % 1'000'000'000;
        }
        ::syscall(
            SYS_futex, &sequence, FUTEX_WAIT, before, timeout_ns >= 0 ? &limit : nullptr, nullptr, 0
        );
    }
    cancel_sleep();
}

void Doorbell::sleep_as_helper(std::uint32_t sequence_seen) {
    ::syscall(SYS_futex, &sequence, FUTEX_WAIT_BITSET, sequence_seen, nullptr, nullptr, helper_bit);
}

SleepKind Doorbell::ring(RingFence fence) {
    if (needs_fence(fence)) {
        // Orders the caller's publication before the load below; pairs with announce_sleep().
        sequence.fetch_add(0, std::memory_order_seq_cst);
    } else {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    if (sleeping.load(std::memory_order_seq_cst) == static_cast<std::uint32_t>(SleepKind::awake)) {
        return SleepKind::awake;
    }
    const auto kind = static_cast<SleepKind>(
        sleeping.exchange(static_cast<std::uint32_t>(SleepKind::awake), std::memory_order_seq_cst)
    );
    if (kind == SleepKind::awake) return kind;
    sequence.fetch_add(1, std::memory_order_seq_cst);
    if (kind == SleepKind::futex || kind == SleepKind::helper) {
        const std::uint32_t who = kind == SleepKind::futex ? owner_bit : helper_bit;
        ::syscall(SYS_futex, &sequence, FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr, who);
        return SleepKind::awake;
    }
    return kind;
}

}  // namespace dlrt
