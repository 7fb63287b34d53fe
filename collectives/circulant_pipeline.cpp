// SPDX-License-Identifier: Apache-2.0
/// Ranks are counted from the root here. A number of a distance stands for a block as well: for the
/// one that the root first sends over that distance.
#include "collectives/circulant_pipeline.hpp"

#include "collectives/circulant.hpp"

namespace dlrt::coll {

/// What a search for the blocks of one rank has found.
struct CirculantPipeline::Search {
    std::int64_t target = 0;
    std::int64_t bound = 0;  ///< Ranks from here on have been looked at.
    std::vector<std::int32_t> found;
    std::vector<bool> is_taken;
};

CirculantPipeline::CirculantPipeline(std::int32_t size, std::int32_t root)
    : size_(size), root_(root) {
    for (const CirculantRound& round : circulant_rounds(size)) {
        distances_.insert(distances_.begin(), static_cast<std::int32_t>(round.distance));
    }
    period_ = static_cast<std::int32_t>(distances_.size());
    distances_.push_back(size);
    // The last round ends a period.
    idle_rounds_ = period_ == 0 ? 0 : (period_ - (block_count - 1) % period_) % period_;
}

std::int32_t CirculantPipeline::received(std::int32_t rank, std::int32_t round) {
    if (rank == root_) return no_block;
    const auto [known, is_new] = known_.try_emplace(rank);
    if (is_new) known->second = received_by((rank - root_ + size_) % size_);
    return known->second[static_cast<std::size_t>(round)];
}

/// By round the block that the rank gets then, or none. REQUIRES: not the root.
std::vector<std::int32_t> CirculantPipeline::received_by(std::int32_t rank) const {
    const std::vector<std::int32_t> first = first_period_of(rank);
    std::vector<std::int32_t> received;
    bool has_last = false;
    for (std::int32_t round = 0; round < round_count(); ++round) {
        const std::int32_t periods = (round + idle_rounds_) / period_;
        std::int32_t block = first[static_cast<std::size_t>(slot_of(round))] + periods * period_ -
                             idle_rounds_;
        if (block < 0 || (has_last && block >= block_count - 1)) block = no_block;
        block = std::min(block, block_count - 1);
        has_last = has_last || block == block_count - 1;
        received.push_back(block);
    }
    return received;
}

/// The shortest distance on the way from the root whose distances shrink: over it comes the rank's
/// own first block.
std::int32_t CirculantPipeline::first_block_of(std::int32_t rank) const {
    std::int32_t slot = period_ - 1;
    for (; at(slot) != rank; --slot) {
        if (at(slot) < rank) rank -= at(slot);
    }
    return slot;
}

/// Whether the rank lies where those end from which the target hears in that slot.
bool CirculantPipeline::reaches(const Search& search, std::int64_t rank, std::size_t slot) const {
    return slot < distances_.size() && rank <= search.target - distances_[slot];
}

/// Goes down the tree of all ways from the root with shrinking distances, farthest ranks first:
/// slot by slot the nearest rank below the partner counts whose first block is still missing.
void CirculantPipeline::look_below(Search& search, std::int64_t rank, std::int32_t longest) const {
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
std::vector<std::int32_t> CirculantPipeline::first_period_of(std::int32_t rank) const {
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

}  // namespace dlrt::coll
