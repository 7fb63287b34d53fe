// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_state.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace dlrt {
namespace {

// Programs use few shapes; only one that walks over all roots of a large communicator meets the
// limit.
constexpr std::size_t schedule_count_max = 64;
constexpr std::uint64_t arena_step_bytes = 4096;

bool is_same(const coll::Shape& a, const coll::Shape& b) {
    return a.root == b.root && a.placement == b.placement && a.rank == b.rank && a.size == b.size;
}

}  // namespace

const coll::Schedule& CollectiveState::schedule(
    const coll::Algorithm& algorithm, const coll::Shape& shape
) {
    for (const Known& known : schedules_) {
        if (known.algorithm == &algorithm && is_same(known.schedule.shape, shape))
            return known.schedule;
    }
    Known made{&algorithm, algorithm.build(shape)};
    if (schedules_.size() < schedule_count_max)
        return schedules_.emplace_back(std::move(made)).schedule;
    Known& victim = schedules_[next_victim_++ % schedule_count_max];
    victim = std::move(made);
    return victim.schedule;
}

bool CollectiveState::is_news(const coll::Algorithm& algorithm, std::uint64_t size_bytes) {
    const Told now{&algorithm, static_cast<int>(std::bit_width(size_bytes))};
    if (std::ranges::find(told_, now) != told_.end()) return false;
    told_.push_back(now);
    return true;
}

std::byte* Arena::at_least(std::uint64_t size_bytes) {
    if (size_bytes > size_bytes_) {
        memory_.reset();
        const std::uint64_t grown = std::max(size_bytes, 2 * size_bytes_);
        size_bytes_ = (grown + arena_step_bytes - 1) / arena_step_bytes * arena_step_bytes;
        constexpr std::align_val_t alignment{no_sharing_bytes};
        memory_.reset(new (alignment, std::nothrow) std::byte[size_bytes_]);
        if (!memory_) size_bytes_ = 0;
    }
    return memory_.get();
}

}  // namespace dlrt
