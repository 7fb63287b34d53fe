// SPDX-License-Identifier: Apache-2.0
/// Which ranks are near each other: a partition into hosts, or into the NUMA nodes of one. A value,
/// immutable; any thread.
///
/// Groups are numbered by their lowest rank. Ranks also have a *position*: group after group, in
/// each by rank. Rank 0 has position 0.
#pragma once

#include "runtime/base/result.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dlrt::coll {

class Groups {
  public:
    /// All in one.
    [[nodiscard]] static Groups whole(std::int32_t size);
    /// By rank a number that those of one group share. REQUIRES: at least one rank.
    [[nodiscard]] static Groups of(std::span<const std::uint32_t> marks);
    /// For so many ranks:
    ///
    ///   4         neighbours by fours, the last group may be smaller
    ///   2x4       two groups of four
    ///   3+1+4     neighbours by these sizes
    ///   cyclic:3  rank r in group r mod 3
    ///   0-2,5/3,4 ranks by group
    ///
    /// Errors: Errc::argument with what is wrong and what is valid.
    [[nodiscard]] static Result<Groups> parse(std::string_view text, std::int32_t size);

    [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(ranks_.size()); }
    [[nodiscard]] std::int32_t count() const {
        return static_cast<std::int32_t>(begins_.size()) - 1;
    }
    [[nodiscard]] std::int32_t group_of(std::int32_t rank) const { return groups_[index(rank)]; }
    [[nodiscard]] std::int32_t position_of(std::int32_t rank) const {
        return positions_[index(rank)];
    }
    [[nodiscard]] std::int32_t rank_at(std::int32_t position) const {
        return ranks_[index(position)];
    }
    /// Its first position; of count() the size.
    [[nodiscard]] std::int32_t first_of(std::int32_t group) const { return begins_[index(group)]; }
    [[nodiscard]] std::int32_t size_of(std::int32_t group) const {
        return first_of(group + 1) - first_of(group);
    }
    /// Whether every position is its rank.
    [[nodiscard]] bool is_consecutive() const { return is_consecutive_; }
    /// Whether all groups have one size.
    [[nodiscard]] bool is_even() const { return is_even_; }
    /// Whether there is something between groups and something within one.
    [[nodiscard]] bool is_layered() const { return count() > 1 && count() < size(); }

    friend bool operator==(const Groups&, const Groups&) = default;

  private:
    Groups() = default;
    static std::size_t index(std::int32_t value) { return static_cast<std::size_t>(value); }

    std::vector<std::int32_t> groups_;     ///< By rank.
    std::vector<std::int32_t> positions_;  ///< By rank.
    std::vector<std::int32_t> ranks_;      ///< By position.
    std::vector<std::int32_t> begins_;     ///< By group.
    bool is_consecutive_ = true;
    bool is_even_ = true;
};

}  // namespace dlrt::coll
