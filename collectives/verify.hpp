// SPDX-License-Identifier: Apache-2.0
/// Proves the schedules of all ranks of one operation together by executing them abstractly:
///
///   bounds    no step touches what the collective doesn't give it, nor writes the input;
///
///   pairing   per (sender, receiver, lane) the k-th send and the k-th receive agree in their
///             chunks;
///
///   deadlock  everything completes, even if a send only completes once its receive has started;
///
///   race      two steps of a rank that touch the same chunk, one writing, are ordered by edges;
///
///   window    a rank that promises a window has no more sends, and no more receives, under way;
///
///   result    every output chunk holds what the collective promises, each contribution counted
///             once; in an allreduce by the same expression on every rank; in the order of ranks
///             where that is claimed, and in a scan or exscan always. For a barrier: every rank's
///             leaving follows from every rank's entering.
///
/// Pure. O(steps + edges), times ranks / 64 for a barrier and for reductions that are proved
/// exactly.
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlrt::coll {

class Expressions;

enum class FaultKind : std::uint8_t { bounds, pairing, deadlock, race, window, result };

struct Fault {
    FaultKind kind = FaultKind::bounds;
    std::string text;
};

/// How the values of reductions are proved. All else is exact in both.
enum class Proof : std::uint8_t {
    exact,  ///< By sets of contributors.
    /// Contributions are random 64-bit values, sums wrap around, and an expression is a hash of its
    /// sides: a fault is missed with a probability of about 2^-64 per chunk.
    random
};

/// exact, unless its sets would need more than 64 MiB.
[[nodiscard]] Proof affordable_proof(std::span<const Schedule> schedules);

/// REQUIRES: schedules by rank, at least one. Nothing when they are right.
[[nodiscard]] std::optional<Fault> find_fault(
    std::span<const Schedule> schedules, Proof proof = Proof::exact
);

/// Whether both are broadcasts, or reductions that may combine ranks in any order, and the second
/// is the first with every rank so many higher, modulo their number, as the root is: step by step,
/// in every edge. What was proved of one then holds of the other, as nothing but the root tells the
/// ranks of these from each other.
[[nodiscard]] bool is_turned(std::span<const Schedule> first, std::span<const Schedule> second);

/// Proves operations that differ in their root, one after the other; those that are the first one
/// turned are proved by that. Expressions once seen are kept for the next root. One thread at a
/// time.
class RootProver {
  public:
    RootProver();
    ~RootProver();

    /// REQUIRES: as find_fault() does, and one number of ranks in all calls.
    [[nodiscard]] std::optional<Fault> find_fault(std::span<const Schedule> schedules, Proof proof);

  private:
    std::vector<Schedule> proven_;
    std::unique_ptr<Expressions> expressions_;
};

}  // namespace dlrt::coll
