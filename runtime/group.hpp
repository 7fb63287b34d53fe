// SPDX-License-Identifier: Apache-2.0
/// An ordered set of world ranks. Immutable value, shared by reference; all operations are pure.
///
/// Members in even steps (the world, a split by parity, a range) are translated by arithmetic and
/// need no table.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/base/result.hpp"
#include "runtime/request.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dlrt {

class Group;
using GroupRef = std::shared_ptr<const Group>;

enum class Comparison : std::uint8_t { identical, congruent, similar, unequal };
inline constexpr std::int32_t undefined_rank = -32766;

class DLRT_CORE Group {
  public:
    /// REQUIRES: no world rank twice, none negative.
    explicit Group(std::vector<WorldRank> members);

    [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(members_.size()); }
    /// REQUIRES: 0 <= rank < size().
    [[nodiscard]] WorldRank world_rank(std::int32_t rank) const {
        return members_[static_cast<std::size_t>(rank)];
    }
    /// undefined_rank when it is no member. Constant time.
    [[nodiscard]] std::int32_t rank_of(WorldRank world_rank) const {
        if (is_identity_) {
            const bool is_member = world_rank >= 0 && world_rank < size();
            return is_member ? world_rank : undefined_rank;
        }
        return search(world_rank);
    }
    [[nodiscard]] std::span<const WorldRank> members() const { return members_; }
    /// World rank equals rank for all members: no translation needed.
    [[nodiscard]] bool is_identity() const { return is_identity_; }

  private:
    [[nodiscard]] std::int32_t search(WorldRank world_rank) const;
    [[nodiscard]] std::size_t first_slot(WorldRank world_rank) const;
    void fill_slots();

    std::vector<WorldRank> members_;
    std::int32_t step_ = 0;  ///< members_[i] = members_[0] + i * step_; 0 when it is not so.
    bool is_identity_ = false;
    /// Open addressing by world rank; holds rank + 1, 0 is free. Empty when step_ is not 0.
    std::vector<std::int32_t> slots_;
};

struct RankRange {
    std::int32_t first, last, stride;
};

/// Results are ordered as MPI-4.1 section 7.3.2 says.
[[nodiscard]] DLRT_CORE GroupRef group_union(const Group& a, const Group& b);
[[nodiscard]] DLRT_CORE GroupRef group_intersection(const Group& a, const Group& b);
[[nodiscard]] DLRT_CORE GroupRef group_difference(const Group& a, const Group& b);
/// Errors: Errc::rank for a rank out of range or named twice.
[[nodiscard]] DLRT_CORE Result<GroupRef> group_include(
    const Group& group, std::span<const std::int32_t> ranks
);
[[nodiscard]] DLRT_CORE Result<GroupRef> group_exclude(
    const Group& group, std::span<const std::int32_t> ranks
);
/// The ranks first, first + stride, … up to last. Errors: Errc::rank for a rank out of 0..size-1;
/// Errc::argument for stride 0 and for one that leads away from last.
[[nodiscard]] DLRT_CORE Result<std::vector<std::int32_t>> expand_ranges(
    std::int32_t size, std::span<const RankRange> ranges
);
/// identical, similar or unequal.
[[nodiscard]] DLRT_CORE Comparison compare(const Group& a, const Group& b);

}  // namespace dlrt
