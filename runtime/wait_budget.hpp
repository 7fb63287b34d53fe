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
    std::uint32_t yield_rounds = 8;  ///< Polls with sched_yield in between; then sleep.
    /// A yield that took longer than this ran somebody else: the core is shared, stop spinning in
    /// the next waits.
    std::uint32_t shared_yield_ns = 1200;
    /// One that took longer gave the core to somebody who keeps it: sleep in the next waits, since
    /// a wake-up is served sooner than the next turn.
    std::uint32_t stolen_yield_ns = 100'000;
};

struct Tenancy {
    std::uint32_t usable_cpu_count = 1;  ///< Of this rank: its affinity, at most the host's usable
                                         ///< cpus.
    std::uint32_t ranks_on_cpus = 1;     ///< Ranks that may run on those cpus, this one included.
};

[[nodiscard]] WaitBudget wait_budget(const Tenancy& tenancy);

}  // namespace dlrt
