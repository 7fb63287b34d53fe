// SPDX-License-Identifier: Apache-2.0
/// What the parts of the verifier share: the steps of all ranks under one numbering, the first
/// fault found, and the checks in the order in which they rely on each other. Pure; one thread at a
/// time.
#pragma once

#include "collectives/expressions.hpp"
#include "collectives/verify.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dlrt::coll {

using StepId = std::uint32_t;  ///< Over all ranks.
inline constexpr StepId no_step = UINT32_MAX;

class AllSteps {
  public:
    explicit AllSteps(std::span<const Schedule> schedules);

    [[nodiscard]] std::span<const Schedule> schedules() const { return schedules_; }
    [[nodiscard]] StepId count() const { return static_cast<StepId>(ranks_.size()); }
    /// Of the rank's step 0; of the number of ranks, the end.
    [[nodiscard]] StepId first_of(std::size_t rank) const { return base_[rank]; }
    [[nodiscard]] std::size_t rank_of(StepId id) const { return ranks_[id]; }
    [[nodiscard]] std::uint32_t index_of(StepId id) const { return id - base_[ranks_[id]]; }
    [[nodiscard]] const Step& operator[](StepId id) const { return *steps_[id]; }
    /// Calls visit(id) for each step of the rank that waits for this one.
    template<typename Visit>
    void for_successors(StepId id, const Visit& visit) const {
        for (std::uint32_t i = successor_begin_[id]; i < successor_begin_[id + 1]; ++i)
            visit(successors_[i]);
    }

  private:
    std::span<const Schedule> schedules_;
    std::vector<StepId> base_;          ///< By rank.
    std::vector<std::uint32_t> ranks_;  ///< By step.
    std::vector<const Step*> steps_;
    std::vector<std::uint32_t> successor_begin_;  ///< By step, in successors_; and the end.
    std::vector<StepId> successors_;
};

/// Keeps the first fault: it is the one that explains.
class Findings {
  public:
    template<typename... Args>
    void report(FaultKind kind, fmt::format_string<Args...> format, Args&&... args) {
        if (!fault_) fault_ = Fault{kind, fmt::format(format, std::forward<Args>(args)...)};
    }
    [[nodiscard]] bool has_fault() const { return fault_.has_value(); }
    [[nodiscard]] std::optional<Fault> take() && { return std::move(fault_); }

  private:
    std::optional<Fault> fault_;
};

[[nodiscard]] inline Place shifted(const Place& place, std::uint32_t by) {
    return {place.buffer, place.chunk + by};
}

void check_bounds(const AllSteps& steps, Findings& findings);

/// By send and receive the other one; no_step elsewhere.
[[nodiscard]] std::vector<StepId> check_pairing(const AllSteps& steps, Findings& findings);

/// Local steps and sends, these standing for their receives as well, each after all that it needs.
[[nodiscard]] std::vector<StepId> check_deadlock(
    const AllSteps& steps, std::span<const StepId> partners, Findings& findings
);

void check_races(const Schedule& schedule, Findings& findings);
void check_window(const Schedule& schedule, Findings& findings);

/// Steps in an order of execution, with partners: what check_deadlock() was given and gave.
struct Execution {
    std::span<const StepId> order;
    std::span<const StepId> partners;
};
void check_barrier(const AllSteps& steps, const Execution& execution, Findings& findings);
/// Adds the expressions of these schedules to those that are known.
void check_values_exactly(
    const AllSteps& steps, const Execution& execution, Expressions& expressions, Findings& findings
);
void check_values_at_random(const AllSteps& steps, const Execution& execution, Findings& findings);

}  // namespace dlrt::coll
