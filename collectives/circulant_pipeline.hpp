// SPDX-License-Identifier: Apache-2.0
/// Who gets which block of a vector when, on a circulant graph, in as few rounds as there can be:
/// the vector is k = 32 blocks; in round i every rank hears from the one that distance i mod L is
/// below it, and tells the one as far above. No rank gets a block twice.
///
/// Source: Träff, "Optimal broadcast schedules in logarithmic time with applications to broadcast,
/// all-broadcast, reduction and all-reduction", 2024. O(log^2 p + k log p) for each rank asked of.
///
///   p = 6, first blocks:   0>3: 0   then 0>1: 1  3>4: 0   then 0>2: 2  3>5: 0   then 0>3: 3 ...
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace dlrt::coll {

class CirculantPipeline {
  public:
    static constexpr std::int32_t block_count = 32;
    static constexpr std::int32_t no_block = -1;

    CirculantPipeline(std::int32_t size, std::int32_t root);

    [[nodiscard]] std::int32_t round_count() const {
        return period_ == 0 ? 0 : block_count - 1 + period_;
    }
    [[nodiscard]] std::uint32_t distance_in(std::int32_t round) const {
        return static_cast<std::uint32_t>(at(slot_of(round)));
    }
    /// What the rank gets in that round, or no_block; the root gets nothing.
    [[nodiscard]] std::int32_t received(std::int32_t rank, std::int32_t round);

  private:
    struct Search;

    [[nodiscard]] std::int32_t at(std::int32_t slot) const {
        return distances_[static_cast<std::size_t>(slot)];
    }
    [[nodiscard]] std::int32_t slot_of(std::int32_t round) const {
        return (round + idle_rounds_) % period_;
    }
    [[nodiscard]] std::vector<std::int32_t> received_by(std::int32_t rank) const;
    [[nodiscard]] std::int32_t first_block_of(std::int32_t rank) const;
    [[nodiscard]] bool reaches(const Search& search, std::int64_t rank, std::size_t slot) const;
    void look_below(Search& search, std::int64_t rank, std::int32_t longest) const;
    [[nodiscard]] std::vector<std::int32_t> first_period_of(std::int32_t rank) const;

    std::int32_t size_;
    std::int32_t root_;
    std::vector<std::int32_t> distances_;  ///< From the shortest; the last one is the size.
    std::int32_t period_ = 0;              ///< Of distances.
    std::int32_t idle_rounds_ = 0;         ///< Of the first period, left out.
    std::map<std::int32_t, std::vector<std::int32_t>> known_;  ///< By rank.
};

}  // namespace dlrt::coll
