// SPDX-License-Identifier: Apache-2.0
/// How long a waiting rank spins and yields before it sleeps, decided from who else wants the core.
/// Pure.
///
/// Effective cpus and tenants are those of the host segment; the choice of the phases follows the
/// measurements in ARCHITECTURE.md (a few yields then sleep where ranks outnumber cores, never spin
/// there).
#pragma once

#include <cstdint>

namespace dlrt {

struct WaitBudget {
    std::uint32_t spin_rounds = 0;   ///< Polls with a pause in between.
    std::uint32_t yield_rounds = 3;  ///< Polls with sched_yield in between; then sleep.
    /// Yields that run nobody else harm nobody, and keep the core from halting: so much of their
    /// time is not counted as rounds.
    std::uint32_t lone_yield_ns = 0;
    /// A yield that took longer than this ran somebody else: the core is shared, stop spinning in
    /// the next waits.
    std::uint32_t shared_yield_ns = 1200;
    /// One that took longer gave the core to somebody who keeps it for a whole time slice: sleep in
    /// the next waits, since a wake-up is served sooner than the next turn. A turn of all ranks
    /// that wait on the core is shorter.
    std::uint32_t stolen_yield_ns = 1'000'000;
    /// Ranks take turns on this core: who goes to sleep must not interrupt the other cores, so
    /// those who ring fence.
    bool is_core_shared = false;
};

struct Tenancy {
    std::uint32_t usable_cpu_count = 1;  ///< Of this rank: its affinity, at most the host's usable
                                         ///< cpus.
    std::uint32_t ranks_on_cpus = 1;     ///< Ranks that may run on those cpus, this one included.
    bool has_threads = false;            ///< Several of this rank's call dlrt.
};

/// How often who only polls lets others have the core that it shares with them: not after a single
/// poll between two pieces of work, and each time where it does nothing else.
class PollPace {
  public:
    explicit PollPace(bool is_core_shared) : is_core_shared_(is_core_shared) {}

    /// After a poll in vain: whether to yield. `event_count` changes whenever something completes.
    [[nodiscard]] bool should_yield(std::uint64_t event_count) {
        if (!is_core_shared_) return false;
        if (event_count != event_count_) polls_in_vain_ = 0;
        event_count_ = event_count;
        if (polls_in_vain_ == polls_before_yield) return true;
        ++polls_in_vain_;
        return false;
    }

  private:
    static constexpr std::uint32_t polls_before_yield = 2;
    bool is_core_shared_;
    std::uint32_t polls_in_vain_ = 0;
    std::uint64_t event_count_ = 0;
};

[[nodiscard]] WaitBudget wait_budget(const Tenancy& tenancy);

}  // namespace dlrt
