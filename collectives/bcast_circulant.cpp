// SPDX-License-Identifier: Apache-2.0
/// Pipelined broadcast on a circulant graph, in as few rounds as there can be: the vector is k = 32
/// blocks; in round i every rank hears from the one that distance i mod L is below it, and tells
/// the one as far above. No rank gets a block twice.
///
/// Cost (k - 1 + L) (alpha + n/k beta); any p, any root; O(log^2 p + k log p) to make. Best for
/// long vectors. Source: Träff, "Optimal broadcast schedules in logarithmic time with applications
/// to broadcast, all-broadcast, reduction and all-reduction", 2024.
///
///   p = 6, first blocks:   0>3: 0   then 0>1: 1  3>4: 0   then 0>2: 2  3>5: 0   then 0>3: 3 ...
#include "collectives/algorithms.hpp"
#include "collectives/circulant.hpp"

#include <map>

namespace dlrt::coll {
namespace {

constexpr std::int32_t block_count = 32;
constexpr std::int32_t no_block = -1;

/// Ranks are counted from the root here. A number of a distance stands for a block as well: for the
/// one that the root first sends over that distance.
class Circulant {
  public:
    explicit Circulant(std::int32_t size) {
        for (const CirculantRound& round : circulant_rounds(size)) {
            distances_.insert(distances_.begin(), static_cast<std::int32_t>(round.distance));
        }
        period_ = static_cast<std::int32_t>(distances_.size());
        distances_.push_back(size);
        // The last round ends a period.
        idle_rounds_ = period_ == 0 ? 0 : (period_ - (block_count - 1) % period_) % period_;
    }

    [[nodiscard]] std::int32_t round_count() const {
        return period_ == 0 ? 0 : block_count - 1 + period_;
    }
    [[nodiscard]] std::uint32_t distance_in(std::int32_t round) const {
        return static_cast<std::uint32_t>(at(slot_of(round)));
    }

    /// By round the block that the rank gets then, or none. REQUIRES: not the root.
    [[nodiscard]] std::vector<std::int32_t> received_by(std::int32_t rank) const {
        const std::vector<std::int32_t> first = first_period_of(rank);
        std::vector<std::int32_t> received;
        bool has_last = false;
        for (std::int32_t round = 0; round < round_count(); ++round) {
            const std::int32_t periods = (round + idle_rounds_) / period_;
            std::int32_t block = first[static_cast<std::size_t>(slot_of(round))] +
                                 periods * period_ - idle_rounds_;
            if (block < 0 || (has_last && block >= block_count - 1)) block = no_block;
            block = std::min(block, block_count - 1);
            has_last = has_last || block == block_count - 1;
            received.push_back(block);
        }
        return received;
    }

  private:
    [[nodiscard]] std::int32_t at(std::int32_t slot) const {
        return distances_[static_cast<std::size_t>(slot)];
    }
    [[nodiscard]] std::int32_t slot_of(std::int32_t round) const {
        return (round + idle_rounds_) % period_;
    }

    /// The shortest distance on the way from the root whose distances shrink: over it comes the
    /// rank's own first block.
    [[nodiscard]] std::int32_t first_block_of(std::int32_t rank) const {
        std::int32_t slot = period_ - 1;
        for (; at(slot) != rank; --slot) {
            if (at(slot) < rank) rank -= at(slot);
        }
        return slot;
    }

    /// What a search for the blocks of one rank has found.
    struct Search {
        std::int64_t target = 0;
        std::int64_t bound = 0;  ///< Ranks from here on have been looked at.
        std::vector<std::int32_t> found;
        std::vector<bool> is_taken;
    };

    /// Whether the rank lies where those end from which the target hears in that slot.
    [[nodiscard]] bool reaches(const Search& search, std::int64_t rank, std::size_t slot) const {
        return slot < distances_.size() && rank <= search.target - distances_[slot];
    }

    /// Goes down the tree of all ways from the root with shrinking distances, farthest ranks first:
    /// slot by slot the nearest rank below the partner counts whose first block is still missing.
    void look_below(Search& search, std::int64_t rank, std::int32_t longest) const {
        for (std::int32_t step = longest; step >= 0; --step) {
            const std::int64_t next = rank + at(step);
            const bool is_open = !search.is_taken[static_cast<std::size_t>(step)] &&
                                 next < search.bound;
            if (!is_open || !reaches(search, next, search.found.size())) continue;
            if (reaches(search, next, search.found.size() + 1)) look_below(search, next, step);
            if (!reaches(search, rank, search.found.size() + 1)) return;
            search.bound = next;
            search.found.push_back(step);
            search.is_taken[static_cast<std::size_t>(step)] = true;
        }
    }

    /// By slot: blocks of the period before are negative.
    [[nodiscard]] std::vector<std::int32_t> first_period_of(std::int32_t rank) const {
        const std::int32_t own = first_block_of(rank);
        const std::int64_t size = at(period_);
        Search search{size + rank, 2 * size, {}, std::vector<bool>(distances_.size(), false)};
        search.is_taken[static_cast<std::size_t>(own)] = true;
        look_below(search, 0, period_);
        for (std::int32_t& block : search.found) {
            block = block == period_ ? own : block - period_;
        }
        return search.found;
    }

    std::vector<std::int32_t> distances_;  ///< From the shortest; the last one is the size.
    std::int32_t period_ = 0;              ///< Of distances.
    std::int32_t idle_rounds_ = 0;         ///< Of the first period, left out.
};

}  // namespace

Schedule bcast_circulant(const Shape& shape) {
    ScheduleBuilder builder({Collective::bcast, "circulant", ChunkRule::split, block_count}, shape);
    const Circulant circulant(shape.size);
    auto received_by = [&](std::int32_t rank) -> std::vector<std::int32_t> {
        if (rank == shape.root) return {};
        return circulant.received_by((rank - shape.root + shape.size) % shape.size);
    };
    const std::vector<std::int32_t> own = received_by(shape.rank);
    std::map<std::int32_t, std::vector<std::int32_t>> of_peers;
    for (std::int32_t round = 0; round < circulant.round_count(); ++round) {
        const auto index = static_cast<std::size_t>(round);
        auto block = [&](const std::vector<std::int32_t>& received) {
            return received.empty() ? no_block : received[index];
        };
        auto slice = [](std::int32_t chunk) {
            return output_slice(static_cast<std::uint32_t>(chunk));
        };
        const std::uint32_t distance = circulant.distance_in(round);
        if (block(own) != no_block) {
            builder.recv(rank_below(shape, distance), slice(block(own)));
        }
        const std::int32_t above = rank_above(shape, distance);
        const auto [known, is_new] = of_peers.try_emplace(above);
        if (is_new) known->second = received_by(above);
        const std::int32_t sent = block(known->second);
        if (sent != no_block) builder.send(above, slice(sent));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
