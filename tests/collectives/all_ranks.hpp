// SPDX-License-Identifier: Apache-2.0
/// The schedules of all ranks of one operation, for tests.
#pragma once

#include "collectives/algorithms.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace dlrt::coll {

/// Which ranks say in_place; those for which it means nothing are built as separate.
enum class Placements : std::uint8_t { none, all, odd_ranks };

inline std::vector<Placements> placements_of(Collective collective) {
    switch (collective) {
        case Collective::barrier:
        case Collective::bcast:
            return {Placements::none};
        case Collective::reduce:
        case Collective::gather:
        case Collective::scatter:
            return {Placements::none, Placements::all};
        case Collective::allreduce:
        case Collective::allgather:
        case Collective::reduce_scatter:
        case Collective::alltoall:
        case Collective::scan:
        case Collective::exscan:
            return {Placements::none, Placements::all, Placements::odd_ranks};
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            return {};
    }
    return {};
}

/// The schedules of one root in all placements; each is built once.
class AllRanks {
  public:
    AllRanks(
        const Algorithm& algorithm, std::int32_t size, std::int32_t root,
        const Groups* groups = nullptr
    )
        : algorithm_(algorithm), size_(size), root_(root), groups_(groups) {
        for (std::int32_t rank = 0; rank < size; ++rank)
            schedules_.push_back(build(rank, Placement::separate));
        placements_.resize(schedules_.size(), Placement::separate);
        others_.resize(schedules_.size());
    }

    /// Until the next call.
    std::span<const Schedule> placed(Placements placements) {
        for (std::int32_t rank = 0; rank < size_; ++rank) {
            const auto index = static_cast<std::size_t>(rank);
            const Placement placement = placement_of(rank, placements);
            if (placements_[index] == placement) continue;
            placements_[index] = placement;
            if (!others_[index]) others_[index] = build(rank, placement);
            std::swap(schedules_[index], *others_[index]);
        }
        return schedules_;
    }
    std::vector<Schedule> take(Placements placements) && {
        placed(placements);
        return std::move(schedules_);
    }

  private:
    [[nodiscard]] Schedule build(std::int32_t rank, Placement placement) const {
        return algorithm_.build({size_, rank, root_, placement, groups_});
    }
    [[nodiscard]] Placement placement_of(std::int32_t rank, Placements placements) const {
        const bool may = !algorithm_.has_root || rank == root_;
        const bool does = placements == Placements::all ||
                          (placements == Placements::odd_ranks && rank % 2 == 1);
        return may && does ? Placement::in_place : Placement::separate;
    }

    const Algorithm& algorithm_;
    std::int32_t size_, root_;
    const Groups* groups_;
    std::vector<Schedule> schedules_;
    std::vector<Placement> placements_;            ///< Of schedules_.
    std::vector<std::optional<Schedule>> others_;  ///< By rank, of the other placement, once built.
};

inline std::vector<Schedule> all_ranks(
    const Algorithm& algorithm, std::int32_t size, std::int32_t root, Placements placements,
    const Groups* groups = nullptr
) {
    return AllRanks(algorithm, size, root, groups).take(placements);
}

}  // namespace dlrt::coll
