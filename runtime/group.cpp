// SPDX-License-Identifier: Apache-2.0
/// Set algebra over world ranks. Every operation is linear in the sizes of its groups.
#include "runtime/group.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <bit>

namespace dlrt {
namespace {

/// The common difference of the members, 0 when there is none. One or no member: 1.
std::int32_t common_step(std::span<const WorldRank> members) {
    if (members.size() < 2) return 1;
    const std::int32_t step = members[1] - members[0];
    for (std::size_t i = 2; i < members.size(); ++i) {
        if (members[i] - members[i - 1] != step) return 0;
    }
    return step;
}

/// Which ranks of a group of that size are named. Errors: out of range or twice.
Result<std::vector<bool>> mark_ranks(std::int32_t size, std::span<const std::int32_t> ranks) {
    std::vector<bool> is_named(static_cast<std::size_t>(size), false);
    for (const std::int32_t rank : ranks) {
        if (rank < 0 || rank >= size) {
            return fail(Errc::rank, "rank {} is not in a group of {} ranks", rank, size);
        }
        if (is_named[static_cast<std::size_t>(rank)]) {
            return fail(Errc::rank, "rank {} is named twice", rank);
        }
        is_named[static_cast<std::size_t>(rank)] = true;
    }
    return is_named;
}

GroupRef make_group(std::vector<WorldRank> members) {
    return std::make_shared<const Group>(std::move(members));
}

}  // namespace

Group::Group(std::vector<WorldRank> members)
    : members_(std::move(members)),
      step_(common_step(members_)),
      is_identity_(members_.empty() || (members_.front() == 0 && step_ == 1)) {
    if (step_ == 0) fill_slots();
}

std::size_t Group::first_slot(WorldRank world_rank) const {
    // Multiplying by 2^32 / golden ratio spreads neighbours; the high bits are the good ones.
    const std::uint32_t spread = static_cast<std::uint32_t>(world_rank) * 2654435769u;
    const int slot_bits = std::countr_zero(slots_.size());
    return spread >> (32 - slot_bits);
}

void Group::fill_slots() {
    slots_.assign(std::bit_ceil(members_.size() * 2), 0);
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
        std::size_t slot = first_slot(members_[rank]);
        while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = static_cast<std::int32_t>(rank) + 1;
    }
}

std::int32_t Group::search(WorldRank world_rank) const {
    if (step_ != 0) {
        const std::int64_t distance = std::int64_t{world_rank} - members_.front();
        const std::int64_t rank = distance / step_;
        return rank >= 0 && rank < size() && rank * step_ == distance
                   ? static_cast<std::int32_t>(rank)
                   : undefined_rank;
    }
    for (std::size_t slot = first_slot(world_rank);; slot = (slot + 1) & (slots_.size() - 1)) {
        if (slots_[slot] == 0) return undefined_rank;
        const std::int32_t rank = slots_[slot] - 1;
        if (members_[static_cast<std::size_t>(rank)] == world_rank) return rank;
    }
}

GroupRef group_union(const Group& a, const Group& b) {
    std::vector<WorldRank> members(a.members().begin(), a.members().end());
    for (const WorldRank member : b.members()) {
        if (a.rank_of(member) == undefined_rank) members.push_back(member);
    }
    return make_group(std::move(members));
}

GroupRef group_intersection(const Group& a, const Group& b) {
    std::vector<WorldRank> members;
    for (const WorldRank member : a.members()) {
        if (b.rank_of(member) != undefined_rank) members.push_back(member);
    }
    return make_group(std::move(members));
}

GroupRef group_difference(const Group& a, const Group& b) {
    std::vector<WorldRank> members;
    for (const WorldRank member : a.members()) {
        if (b.rank_of(member) == undefined_rank) members.push_back(member);
    }
    return make_group(std::move(members));
}

Result<GroupRef> group_include(const Group& group, std::span<const std::int32_t> ranks) {
    const Result<std::vector<bool>> is_named = mark_ranks(group.size(), ranks);
    if (!is_named) return is_named.error();
    std::vector<WorldRank> members;
    members.reserve(ranks.size());
    for (const std::int32_t rank : ranks) members.push_back(group.world_rank(rank));
    return make_group(std::move(members));
}

Result<GroupRef> group_exclude(const Group& group, std::span<const std::int32_t> ranks) {
    const Result<std::vector<bool>> is_named = mark_ranks(group.size(), ranks);
    if (!is_named) return is_named.error();
    std::vector<WorldRank> members;
    for (std::int32_t rank = 0; rank < group.size(); ++rank) {
        if (!(*is_named)[static_cast<std::size_t>(rank)]) {
            members.push_back(group.world_rank(rank));
        }
    }
    return make_group(std::move(members));
}

Result<std::vector<std::int32_t>> expand_ranges(
    std::int32_t size, std::span<const RankRange> ranges
) {
    std::vector<std::int32_t> ranks;
    for (const RankRange& range : ranges) {
        if (range.stride == 0) {
            return fail(Errc::argument, "range {}..{} has stride 0", range.first, range.last);
        }
        const std::int64_t distance = std::int64_t{range.last} - range.first;
        if (distance != 0 && (distance > 0) != (range.stride > 0)) {
            return fail(
                Errc::argument, "range {}..{} is never reached with stride {}", range.first,
                range.last, range.stride
            );
        }
        const std::int64_t step_count = distance / range.stride;
        const std::int64_t end = range.first + step_count * range.stride;
        if (range.first < 0 || range.first >= size || end < 0 || end >= size) {
            return fail(
                Errc::rank, "range {}..{} with stride {} leaves a group of {} ranks", range.first,
                range.last, range.stride, size
            );
        }
        for (std::int64_t i = 0; i <= step_count; ++i) {
            ranks.push_back(static_cast<std::int32_t>(range.first + i * range.stride));
        }
        // More ranks than the group has can only repeat; the caller reports which.
        if (ranks.size() > static_cast<std::size_t>(size) * 2) break;
    }
    return ranks;
}

Comparison compare(const Group& a, const Group& b) {
    if (a.size() != b.size()) return Comparison::unequal;
    if (std::ranges::equal(a.members(), b.members())) return Comparison::identical;
    const bool has_same_members = std::ranges::all_of(a.members(), [&b](WorldRank member) {
        return b.rank_of(member) != undefined_rank;
    });
    return has_same_members ? Comparison::similar : Comparison::unequal;
}

}  // namespace dlrt
