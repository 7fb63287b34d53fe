// SPDX-License-Identifier: Apache-2.0
/// The two cases that measurements tell apart: a core of one's own, and a shared one.
#include "runtime/wait_budget.hpp"

namespace dlrt {
namespace {

/// About 40 us of polling: what it costs to be woken from sleep, so that spinning never costs more
/// than twice the best choice.
constexpr std::uint32_t own_core_spins = 1500;
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
    budget.spin_rounds = is_shared ? 0 : own_core_spins;
    budget.yield_rounds = is_shared ? shared_core_yields : own_core_yields;
    budget.lone_yield_ns = is_shared ? lone_yields_ns : 0;
    budget.is_core_shared = is_shared;
    return budget;
}

}  // namespace dlrt
