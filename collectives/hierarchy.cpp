// SPDX-License-Identifier: Apache-2.0
/// Who takes part in which phase.
#include "collectives/hierarchy.hpp"

#include "collectives/contract.hpp"
#include "runtime/base/check.hpp"

#include <numeric>
#include <set>

namespace dlrt::coll {
namespace {

const Algorithm& algorithm_of(const Recipe::Part& part) {
    const Algorithm* const found = find_algorithm(part.collective, part.algorithm);
    DLRT_ASSERT(found != nullptr);
    return *found;
}

std::uint32_t chunk_count_of(const Recipe::Part& part, std::int32_t size) {
    const Schedule schedule = algorithm_of(part).build({size, 0, 0, Placement::separate});
    return schedule.chunk_count;
}

}  // namespace

Hierarchy::Hierarchy(const Recipe& recipe, const Shape& shape, Leader leader)
    : recipe_(recipe), real_shape_(shape), groups_(shape.groups), leader_(leader) {
    if (groups_ == nullptr) groups_ = &whole_.emplace(Groups::whole(shape.size));
    DLRT_ASSERT(groups_->size() == shape.size);
    shape_ = shape;
    shape_.rank = groups_->position_of(shape.rank);
    shape_.root = groups_->position_of(shape.root);
    group_ = groups_->group_of(shape.rank);
    // Elsewhere it means nothing, but phases have other roots.
    const bool has_choice = !has_root(recipe.collective) || shape_.rank == shape_.root;
    if (!has_choice) shape_.placement = Placement::separate;
}

std::int32_t Hierarchy::leader_of(std::int32_t group) const {
    if (leader_ == Leader::last) return groups_->first_of(group + 1) - 1;
    // Rank 0 leads its group anyway, which is the root where there is none.
    const bool has_root = groups_->group_of(real_shape_.root) == group;
    return has_root ? shape_.root : groups_->first_of(group);
}

Phase Hierarchy::inside(const Recipe::Part& part, std::uint16_t number) const {
    Phase phase;
    phase.algorithm = &algorithm_of(part);
    phase.number = number;
    const std::int32_t first = groups_->first_of(group_);
    phase.members.resize(group_size());
    std::iota(phase.members.begin(), phase.members.end(), first);
    phase.self = shape_.rank - first;
    if (phase.algorithm->has_root) phase.root = leader_of(group_) - first;
    return phase;
}

Phase Hierarchy::between() const {
    Phase phase;
    phase.algorithm = &algorithm_of(recipe_.between);
    phase.number = 1;
    for (std::int32_t group = 0; group < group_count(); ++group)
        phase.members.push_back(leader_of(group));
    phase.self = group_;
    if (phase.algorithm->has_root) phase.root = groups_->group_of(real_shape_.root);
    return phase;
}

Phase Hierarchy::between_lanes() const {
    DLRT_ASSERT(groups_->is_even());
    Phase phase = between();
    const std::int32_t lane = shape_.rank - groups_->first_of(group_);
    for (std::int32_t group = 0; group < group_count(); ++group)
        phase.members[static_cast<std::size_t>(group)] = groups_->first_of(group) + lane;
    return phase;
}

Phase Hierarchy::among_all(const Recipe::Part& part) const {
    Phase phase;
    phase.algorithm = &algorithm_of(part);
    phase.number = 1;
    phase.members.resize(size());
    std::iota(phase.members.begin(), phase.members.end(), 0);
    phase.self = shape_.rank;
    phase.placement = shape_.placement;
    return phase;
}

std::uint32_t Hierarchy::common_chunk_count() const {
    std::set<std::int32_t> sizes;
    for (std::int32_t group = 0; group < group_count(); ++group)
        sizes.insert(groups_->size_of(group));
    std::uint32_t count = 1;
    for (const Recipe::Part& part : {recipe_.up, recipe_.down}) {
        if (part.algorithm.empty()) continue;
        for (const std::int32_t size : sizes) count = std::lcm(count, chunk_count_of(part, size));
    }
    return std::lcm(count, chunk_count_of(recipe_.between, group_count()));
}

Schedule Hierarchy::finish(Composition&& composition) const {
    Schedule schedule = std::move(composition).finish();
    if (groups_->is_consecutive()) {
        schedule.shape = real_shape_;
        return schedule;
    }
    return renamed(schedule, real_shape_, *groups_);
}

Window window(BufferId buffer, std::uint32_t first, const std::vector<std::uint32_t>& lengths) {
    Window result{buffer, {}};
    for (const std::uint32_t length : lengths) {
        result.begins.push_back(first);
        first += length;
    }
    return result;
}

std::vector<std::uint32_t> divided(std::uint32_t total, std::uint32_t count) {
    std::vector<std::uint32_t> lengths;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto boundary = [&](std::uint64_t at) {
            return static_cast<std::uint32_t>(at * total / count);
        };
        lengths.push_back(boundary(i + 1) - boundary(i));
    }
    return lengths;
}

std::uint32_t chunk_count_of(const Phase& phase) {
    return schedule_of(phase).chunk_count;
}

}  // namespace dlrt::coll
