// SPDX-License-Identifier: Apache-2.0
/// The two cases that measurements tell apart: a core of one's own, and a shared one.
#include "runtime/wait_budget.hpp"

namespace dlrt {
namespace {

/// About 40 us of polling: what it costs to be woken from sleep, so that spinning never costs more
/// than twice the best choice.
constexpr std::uint32_t own_core_spins = 1500;
constexpr std::uint32_t own_core_yields = 4;
/// Enough for each of a few neighbours to have its turn; more only delays the ranks that have work.
constexpr std::uint32_t shared_core_yields = 8;

}  // namespace

WaitBudget wait_budget(const Tenancy& tenancy) {
    WaitBudget budget;
    const bool is_shared = tenancy.ranks_on_cpus > tenancy.usable_cpu_count;
    budget.spin_rounds = is_shared ? 0 : own_core_spins;
    budget.yield_rounds = is_shared ? shared_core_yields : own_core_yields;
    return budget;
}

}  // namespace dlrt
