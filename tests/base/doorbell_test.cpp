// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/doorbell.hpp"

#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

// Two threads hand a counter back and forth, each sleeping until rung: a lost wake-up hangs the
// test.
enum class Adoption { once, in_turn };

void ping_pong(RingFence fence, std::uint64_t rounds, Adoption adoption = Adoption::once) {
    Doorbell bells[2] = {};
    std::atomic<std::uint64_t> turn{0};
    for (Doorbell& bell : bells) bell.adopt(fence);
    auto play = [&](std::uint64_t me) {
        for (std::uint64_t next = me; next < rounds; next += 2) {
            while (turn.load(std::memory_order_acquire) != next) {
                bells[me].announce_sleep(SleepKind::futex);
                if (turn.load(std::memory_order_acquire) == next) {
                    bells[me].cancel_sleep();
                } else {
                    bells[me].sleep_futex(-1);
                }
            }
            if (adoption == Adoption::in_turn) {
                bells[me].adopt(next / 2 % 2 == 0 ? RingFence::full : fence);
            }
            turn.store(next + 1, std::memory_order_release);
            CHECK(bells[1 - me].ring(fence) == SleepKind::awake);
        }
    };
    std::thread other([&] { play(1); });
    play(0);
    other.join();
    CHECK(turn.load() == rounds);
}

}  // namespace

TEST_CASE("doorbell: no wake-up is lost when ringers fence themselves", "[base]") {
    ping_pong(RingFence::full, 20000);
}

TEST_CASE("doorbell: no wake-up is lost when the sleeper uses membarrier", "[base]") {
    ping_pong(register_ring_fence(), 20000);
}

TEST_CASE("doorbell: no wake-up is lost when the owner changes who fences", "[base]") {
    ping_pong(register_ring_fence(), 20000, Adoption::in_turn);
}

TEST_CASE("doorbell: a helper sleeps until somebody who announced it is rung", "[base]") {
    Doorbell bell = {};
    bell.adopt(RingFence::full);
    std::atomic<bool> is_over{false};
    const std::uint32_t before = bell.sequence.load();
    std::thread helper([&] {
        for (std::uint32_t seen = before; !is_over.load(std::memory_order_acquire);) {
            bell.sleep_as_helper(seen);
            seen = bell.sequence.load(std::memory_order_acquire);
        }
    });
    // Somebody else announces it, while it may be asleep already.
    is_over.store(true, std::memory_order_release);
    bell.announce_sleep(SleepKind::helper);
    CHECK(bell.ring(RingFence::full) == SleepKind::awake);
    helper.join();
    CHECK(bell.sequence.load() == before + 1);
    CHECK(bell.ring(RingFence::full) == SleepKind::awake);
    CHECK(bell.sequence.load() == before + 1);
}

TEST_CASE("doorbell: ringing one that sleeps on descriptors asks for its eventfd once", "[base]") {
    Doorbell bell = {};
    bell.announce_sleep(SleepKind::descriptor);
    CHECK(bell.ring(RingFence::full) == SleepKind::descriptor);
    CHECK(bell.ring(RingFence::full) == SleepKind::awake);
}

}  // namespace dlrt
