// SPDX-License-Identifier: Apache-2.0
/// What all ranks of a collective operation must say alike, condensed: its messages carry a check
/// of it, and the flight ring the particulars, so that a disagreement is found at once and can be
/// told with both sides' calls. Values.
///
/// Significant are, by MPI-4.1 chapter 6: the collective and its form, the root where there is one,
/// the reduction, and how many elements of which kinds, however their types are put together
/// (Langou et al. 2005). Where blocks differ, only each pair of ranks knows how many it moves, and
/// their messages' lengths tell. Whether a rank works in place is its own affair.
#pragma once

#include "runtime/collective_call.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <cstdint>
#include <string>

namespace dlrt {

enum class CollectiveForm : std::uint8_t { blocking, nonblocking, persistent };

/// Tells the operations of a communicator apart. Those that are started over and over keep the
/// number of their making; rounds of one are told apart by the order of its messages.
struct OperationNumber {
    std::uint64_t value = 0;
    Persistence persistence = Persistence::once;

    /// As it stands in flight records.
    [[nodiscard]] std::int32_t short_form() const {
        const std::uint64_t kind = persistence == Persistence::persistent ? 1 : 0;
        return static_cast<std::int32_t>(kind << 30 | (value & 0x3fffffff));
    }
};

struct DLRT_CORE Agreement {
    coll::Collective collective = coll::Collective::barrier;
    CollectiveForm form = CollectiveForm::blocking;
    bool is_uneven = false;
    std::int32_t root = -1;      ///< -1 where there is none.
    std::uint8_t reduction = 0;  ///< A ReduceOp, or user_reduction.
    ElementType element = ElementType::none;
    std::uint32_t signature = 0;  ///< Of the vector or of one block; 0 where blocks differ.

    static constexpr std::uint8_t user_reduction = 255;

    /// Without the collective, the root and the size, which have places of their own in a record.
    [[nodiscard]] std::uint64_t packed() const;
    /// For messages; never 0. `algorithm` is its place in coll::algorithms().
    [[nodiscard]] std::uint32_t check(std::uint32_t algorithm) const;
};
inline constexpr std::uint32_t check_bits = 28;

[[nodiscard]] DLRT_CORE Agreement agreement_of(const CollectiveCall& call, CollectiveForm form);

/// Whether two ranks' records are of the same call, as far as ranks must agree.
[[nodiscard]] bool is_same_call(const FlightEntry& a, const FlightEntry& b);

/// "allreduce of 8 bytes (sum of double)". The entry is of a collective.
[[nodiscard]] DLRT_CORE std::string describe_call(const FlightEntry& entry);

}  // namespace dlrt
