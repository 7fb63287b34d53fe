// SPDX-License-Identifier: Apache-2.0
/// What the hierarchical algorithms share: an operation over groups of ranks is put together from
/// phases within each group and phases between the groups' leaders (composition.hpp).
///
/// They are written for groups of neighbours. Elsewhere ranks take their positions instead
/// (groups.hpp), and the finished schedule is renamed, so that reductions then have to commute.
/// Without groups all ranks are one. O(steps of the ranks of a group, and of the leaders); pure.
#pragma once

#include "collectives/composition.hpp"
#include "collectives/groups.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace dlrt::coll {

/// A hierarchical algorithm as data: what it is made of.
struct Recipe {
    struct Part {
        Collective collective = Collective::barrier;
        std::string_view algorithm;
    };
    Collective collective = Collective::barrier;
    std::string_view name;
    Part up;       ///< Within each group, before
    Part between;  ///< that between the leaders,
    Part down;     ///< and after it. A part that a form doesn't have stays empty.
};

/// The place of a rank in the groups; ranks are positions here.
class Hierarchy {
  public:
    /// Who leads a group: its first rank, or the root if that is in it; or its last rank.
    enum class Leader : std::uint8_t { first, last };
    Hierarchy(const Recipe& recipe, const Shape& shape, Leader leader = Leader::first);

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] const Groups& groups() const { return *groups_; }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(shape_.size); }
    [[nodiscard]] std::int32_t group() const { return group_; }
    [[nodiscard]] std::int32_t group_count() const { return groups_->count(); }
    [[nodiscard]] std::uint32_t group_size(std::int32_t group) const {
        return static_cast<std::uint32_t>(groups_->size_of(group));
    }
    [[nodiscard]] std::uint32_t group_size() const { return group_size(group_); }
    [[nodiscard]] std::uint32_t first_of(std::int32_t group) const {
        return static_cast<std::uint32_t>(groups_->first_of(group));
    }
    [[nodiscard]] std::int32_t leader_of(std::int32_t group) const;
    [[nodiscard]] bool is_leader() const { return leader_of(group_) == shape_.rank; }
    [[nodiscard]] bool is_in_place() const { return shape_.placement == Placement::in_place; }
    /// Whether this rank has a part in the phases within its group, and in those between leaders.
    [[nodiscard]] bool has_inside() const { return group_size() > 1; }
    [[nodiscard]] bool has_between() const { return group_count() > 1 && is_leader(); }
    /// Where the rank's own data is.
    [[nodiscard]] BufferId own() const {
        return is_in_place() ? BufferId::output : BufferId::input;
    }

    /// Phases without lengths and windows. Within the group its leader is the root; between the
    /// leaders the one of the root's group; between ranks that have one number in their groups,
    /// nobody.
    [[nodiscard]] Phase up() const { return inside(recipe_.up, 0); }
    [[nodiscard]] Phase between() const;
    [[nodiscard]] Phase down() const { return inside(recipe_.down, 2); }
    /// REQUIRES: groups of one size.
    [[nodiscard]] Phase between_lanes() const;
    /// The part between leaders, run by all ranks, or the part within a group.
    [[nodiscard]] Phase among_all(const Recipe::Part& part) const;

    /// The least number of chunks that can be cut as every phase wants it.
    [[nodiscard]] std::uint32_t common_chunk_count() const;
    [[nodiscard]] ScheduleBuilder::Header header(ChunkRule rule, std::uint32_t chunk_count) const {
        return {recipe_.collective, recipe_.name, rule, chunk_count};
    }
    [[nodiscard]] const Recipe& recipe() const { return recipe_; }

    /// For the real ranks.
    [[nodiscard]] Schedule finish(Composition&& composition) const;

  private:
    [[nodiscard]] Phase inside(const Recipe::Part& part, std::uint16_t number) const;

    Recipe recipe_;
    Shape real_shape_;
    std::optional<Groups> whole_;  ///< If there are no others.
    const Groups* groups_;
    Shape shape_;
    std::int32_t group_ = 0;
    Leader leader_;
};

/// Chunks first, first + 1, … of `buffer`, one for each length.
[[nodiscard]] Window window(
    BufferId buffer, std::uint32_t first, const std::vector<std::uint32_t>& lengths
);
/// `total` chunks as the `count` of a phase; they differ by one at most.
[[nodiscard]] std::vector<std::uint32_t> divided(std::uint32_t total, std::uint32_t count);
/// As many chunks as the phase has.
[[nodiscard]] std::uint32_t chunk_count_of(const Phase& phase);

/// The same schedule for ranks in another order: whom it calls rank i is ranks.rank_at(i). What was
/// one piece of memory and no longer is one travels through scratch.
[[nodiscard]] Schedule renamed(const Schedule& schedule, const Shape& shape, const Groups& ranks);

}  // namespace dlrt::coll
