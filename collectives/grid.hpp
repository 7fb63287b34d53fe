// SPDX-License-Identifier: Apache-2.0
/// A Cartesian grid of ranks, numbered in row-major order: the last coordinate runs fastest. A
/// value; pure.
#pragma once

#include "collectives/neighbour_exchange.hpp"
#include "runtime/base/export.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlrt::coll {

class DLRT_CORE Grid {
  public:
    struct Dimension {
        std::int32_t size = 1;
        bool is_periodic = false;
        friend bool operator==(const Dimension&, const Dimension&) = default;
    };

    /// REQUIRES: no size below 1, and their product fits a rank. Without dimensions it is one rank.
    explicit Grid(std::vector<Dimension> dimensions);

    [[nodiscard]] std::span<const Dimension> dimensions() const { return dimensions_; }
    [[nodiscard]] std::int32_t rank_count() const { return rank_count_; }

    /// REQUIRES: 0 <= rank < rank_count().
    [[nodiscard]] std::vector<std::int32_t> coordinates_of(std::int32_t rank) const;
    /// Coordinates of periodic dimensions wrap around; outside of another there is no_neighbour.
    /// REQUIRES: one for each dimension.
    [[nodiscard]] std::int32_t rank_at(std::span<const std::int32_t> coordinates) const;
    /// The rank so many steps away along one dimension, or no_neighbour.
    [[nodiscard]] std::int32_t rank_from(
        std::int32_t rank, std::size_t dimension, std::int64_t displacement
    ) const;
    /// Per dimension: the negative one, then the positive one. The lane is the direction in which
    /// an edge leads, since both neighbours may be the same rank.
    [[nodiscard]] Neighbours neighbours_of(std::int32_t rank) const;

  private:
    [[nodiscard]] std::int64_t wrapped(std::size_t dimension, std::int64_t coordinate) const;

    std::vector<Dimension> dimensions_;
    std::vector<std::int32_t> strides_;  ///< Between ranks whose coordinate differs by one.
    std::int32_t rank_count_ = 1;
};

}  // namespace dlrt::coll
