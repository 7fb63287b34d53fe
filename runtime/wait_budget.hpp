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

[[nodiscard]] WaitBudget wait_budget(const Tenancy& tenancy);

}  // namespace dlrt
