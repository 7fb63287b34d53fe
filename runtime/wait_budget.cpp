// SPDX-License-Identifier: Apache-2.0
/// The two cases that measurements tell apart: a core of one's own, and a shared one.
#include "runtime/wait_budget.hpp"

namespace dlrt {
namespace {

/// About 40 us of polling: what it costs to be woken from sleep, so that spinning never costs more
/// than twice the best choice. For a core that other threads of the rank may want.
constexpr std::uint32_t threads_spins = 1500;
/// About 250 us, where nobody else wants the core: one side of a stream of long messages waits for
/// so much of the other's work, and if it sleeps then, the other waits for its waking and sleeps as
/// well. A reduction of 256 KiB took 60 us so instead of 20.
constexpr std::uint32_t own_core_spins = 9000;
constexpr std::uint32_t own_core_yields = 4;
/// Enough for a neighbour that has the answer to give it; each more delays the ranks that have work
/// by a switch of the core.
constexpr std::uint32_t shared_core_yields = 3;
/// Longer than the gaps of an exchange among the ranks of a host. All waiting ranks of a large host
/// together stay below a fiftieth of a core if they poll so long once in two seconds.
constexpr std::uint32_t lone_yields_ns = 200'000;

}  // namespace

WaitBudget wait_budget(const Tenancy& tenancy) {
    WaitBudget budget;
    const bool is_shared = tenancy.ranks_on_cpus > tenancy.usable_cpu_count;
    const std::uint32_t own_spins = tenancy.has_threads ? threads_spins : own_core_spins;
    budget.spin_rounds = is_shared ? 0 : own_spins;
    budget.yield_rounds = is_shared ? shared_core_yields : own_core_yields;
    budget.lone_yield_ns = is_shared ? lone_yields_ns : 0;
    budget.is_core_shared = is_shared;
    return budget;
}

}  // namespace dlrt
