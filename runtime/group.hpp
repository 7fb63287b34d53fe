// SPDX-License-Identifier: Apache-2.0
/// An ordered set of world ranks. Immutable value, shared by reference; all operations are pure.
#pragma once

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

class Group {
  public:
    /// REQUIRES: no world rank twice.
    explicit Group(std::vector<WorldRank> members);

    [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(members_.size()); }
    /// REQUIRES: 0 <= rank < size().
    [[nodiscard]] WorldRank world_rank(std::int32_t rank) const {
        return members_[static_cast<std::size_t>(rank)];
    }
    /// undefined_rank when it is no member. Constant time.
    [[nodiscard]] std::int32_t rank_of(WorldRank world_rank) const;
    [[nodiscard]] std::span<const WorldRank> members() const { return members_; }
    /// World rank equals rank for all members: no translation needed.
    [[nodiscard]] bool is_identity() const { return is_identity_; }

  private:
    std::vector<WorldRank> members_;
    std::vector<std::int32_t> rank_by_world_;
    bool is_identity_ = true;
};

struct RankRange {
    std::int32_t first, last, stride;
};

/// Results are ordered as MPI-4.1 section 7.3.2 says.
[[nodiscard]] GroupRef group_union(const Group& a, const Group& b);
[[nodiscard]] GroupRef group_intersection(const Group& a, const Group& b);
[[nodiscard]] GroupRef group_difference(const Group& a, const Group& b);
/// Errors: Errc::rank for a rank out of range or named twice; Errc::argument for stride 0.
[[nodiscard]] Result<GroupRef> group_include(
    const Group& group, std::span<const std::int32_t> ranks
);
[[nodiscard]] Result<GroupRef> group_exclude(
    const Group& group, std::span<const std::int32_t> ranks
);
[[nodiscard]] Result<std::vector<std::int32_t>> expand_ranges(
    std::int32_t size, std::span<const RankRange> ranges
);
[[nodiscard]] Comparison compare(const Group& a, const Group& b);  ///< identical, similar or
                                                                   ///< unequal.

}  // namespace dlrt
