// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_state.hpp"

#include "runtime/communicator.hpp"
#include "runtime/core.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace dlrt {
namespace {

// Programs use few shapes; only one that walks over all roots of a large communicator meets the
// limit.
constexpr std::size_t schedule_count_max = 64;

}  // namespace

std::shared_ptr<const coll::Schedule> CollectiveState::schedule(
    const coll::Algorithm& algorithm, const coll::Shape& shape
) {
    for (const Known& known : schedules_) {
        if (known.algorithm == &algorithm && known.schedule->shape == shape) return known.schedule;
    }
    auto schedule = std::make_shared<const coll::Schedule>(algorithm.build(shape));
    if (schedules_.size() < schedule_count_max) {
        schedules_.push_back({&algorithm, schedule});
    } else {
        schedules_[next_victim_++ % schedule_count_max] = {&algorithm, schedule};
    }
    return schedule;
}

std::shared_ptr<const coll::Schedule> CollectiveState::schedule_between(
    coll::Collective collective, const coll::TwoGroups& groups
) {
    for (const KnownBetween& known : schedules_between_) {
        if (known.collective == collective && known.groups == groups) return known.schedule;
    }
    auto schedule = std::make_shared<coll::Schedule>(coll::exchange_between(collective, groups));
    // What a user reads in an error.
    schedule->collective = collective;
    KnownBetween known{collective, groups, std::move(schedule)};
    if (schedules_between_.size() < schedule_count_max) {
        return schedules_between_.emplace_back(std::move(known)).schedule;
    }
    KnownBetween& victim = schedules_between_[next_victim_++ % schedule_count_max];
    victim = std::move(known);
    return victim.schedule;
}

const coll::Groups* CollectiveState::groups(const Communicator& comm) {
    if (!division_.is_known) {
        division_.is_known = true;
        const Core* const core = Core::get();
        const std::optional<coll::Groups>* const
            world = core != nullptr ? &core->collective_settings().world_groups : nullptr;
        if (world != nullptr && *world && (*world)->count() > 1) {
            std::vector<std::uint32_t> marks;
            for (const WorldRank member : comm.group()->members())
                marks.push_back(static_cast<std::uint32_t>((*world)->group_of(member)));
            coll::Groups groups = coll::Groups::of(marks);
            if (groups.is_layered()) division_.groups = std::move(groups);
        }
    }
    return division_.groups ? &*division_.groups : nullptr;
}

bool CollectiveState::is_news(const coll::Algorithm& algorithm, std::uint64_t size_bytes) {
    const Told now{&algorithm, static_cast<int>(std::bit_width(size_bytes))};
    if (std::ranges::find(told_, now) != told_.end()) return false;
    told_.push_back(now);
    return true;
}

CollectiveOperation& CollectiveState::take() {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) {
        idle_.push_back(operations_.emplace_back(std::make_unique<CollectiveOperation>()).get());
        // Giving back must not fail.
        idle_.reserve(operations_.size());
    }
    CollectiveOperation* const operation = idle_.back();
    idle_.pop_back();
    return *operation;
}

std::size_t CollectiveState::count_out() {
    const std::scoped_lock lock(mutex_);
    return operations_.size() - idle_.size();
}

bool CollectiveState::give_back(CollectiveOperation& operation) {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(&operation);
    return idle_.size() == operations_.size();
}

}  // namespace dlrt
