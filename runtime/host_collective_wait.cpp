// SPDX-License-Identifier: Apache-2.0
/// What a rank waits for in the cells, and whom it wakes.
#include "collectives/contract.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/cpu_pause.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/host_collective.hpp"
#include "runtime/host_event.hpp"

#include <algorithm>
#include <sched.h>

namespace dlrt {
namespace {

constexpr std::uint32_t eager_polls = 64;
constexpr int shared_core_yields = 16;
/// Somebody else has the core for a time slice: sleeping is better for some time.
constexpr std::uint64_t stolen_yield_ns = 1'000'000;
constexpr std::uint32_t waits_after_stolen_yield = 32;

}  // namespace

bool HostCollective::has_come(const Wait& wait) {
    const HostCollective& self = *wait.self;
    if (self.is_over(wait) || wait.disagreement) return true;
    return self.area_.head().dispute.raised.load(std::memory_order_acquire) != 0;
}

bool HostCollective::has_arrived(std::uint32_t member) const {
    // Or has gone on since.
    const std::uint32_t found = line(member).mark.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(found - mark()) >= 0;
}

bool HostCollective::needs(const Wait& wait, WorldRank rank) {
    const HostCollective& self = *wait.self;
    const std::int32_t member = self.group_->rank_of(rank);
    if (member == undefined_rank || member == static_cast<std::int32_t>(self.rank_)) return false;
    const auto index = static_cast<std::uint32_t>(member);
    switch (wait.awaited) {
        case Awaited::room:
            return self.finished_by(index) < wait.finished;
        case Awaited::room_above:
            // The one above may wait for those above it.
            return index >= wait.peer && self.finished_by(index) < wait.finished;
        case Awaited::cell:
            return index == wait.peer && !self.has_arrived(index);
        case Awaited::lower_cell:
            // The one below waits for those below it.
            return index <= wait.peer && !self.has_arrived(index);
        case Awaited::arrivals:
        case Awaited::result:
            return !self.has_arrived(index);
    }
    return false;
}

std::uint32_t HostCollective::first_missing(const Wait& wait) const {
    const auto members = group_->members();
    for (std::uint32_t member = 0; member < members.size(); ++member) {
        if (needs(wait, members[member])) return member;
    }
    return rank_;
}

/// Where ranks share a core, all of them come to the operation soon if each lets the others on: the
/// more of them, the later is it worth to sleep.
bool HostCollective::yield_until(const Wait& wait) {
    if (waits_without_yield_ != 0) {
        --waits_without_yield_;
        return false;
    }
    std::uint64_t before_ns = monotonic_ns();
    for (int yields = 0; yields < shared_core_yields; ++yields) {
        ::sched_yield();
        if (is_over(wait)) return true;
        const std::uint64_t now_ns = monotonic_ns();
        if (now_ns - before_ns > stolen_yield_ns) {
            waits_without_yield_ = waits_after_stolen_yield;
            return false;
        }
        before_ns = now_ns;
        static_cast<void>(engine_->progress());
    }
    return false;
}

Status HostCollective::wait(const Wait& wait) {
    if (engine_->quick_polls() != 0) {
        // Mostly the others are as far: the pause would be longer than what there is to wait.
        for (std::uint32_t polls = eager_polls; polls != 0; --polls) {
            if (is_over(wait)) return {};
        }
        for (std::uint32_t polls = engine_->quick_polls(); polls != 0; --polls) {
            if (is_over(wait)) return {};
            cpu_pause();
        }
    }
    if (engine_->quick_polls() == 0 && yield_until(wait)) return {};
    const HostEvent event{
        [](const void* state) { return has_come(*static_cast<const Wait*>(state)); },
        [](const void* state, WorldRank rank) {
            return needs(*static_cast<const Wait*>(state), rank);
        },
        [](const void* state, EngineInside& inside) {
            compare_calls(*static_cast<const Wait*>(state), inside);
        },
        &wait};
    WorldRank lost = no_rank;
    const Errc error = engine_->wait_for_host(event, lost);
    if (error == Errc::ok && is_over(wait)) return {};
    // Who has ended may have left because of a disagreement, which then is the cause.
    if (error == Errc::peer_lost) {
        engine_->look_inside([&](EngineInside& inside) { compare_calls(wait, inside); });
    }
    if (wait.disagreement) return fail(Errc::mismatch, "{}", *wait.disagreement);
    return error == Errc::ok ? disputed() : give_up(error, lost, wait);
}

Status HostCollective::give_up(Errc error, WorldRank lost, const Wait& wait) {
    const std::string_view name = coll::name_of(call().collective);
    if (error == Errc::peer_lost) {
        return fail(
            error, "{}: rank {} (world rank {}) has ended without finalizing", name,
            group_->rank_of(lost), lost
        );
    }
    return fail(error, "{} with rank {}: {}", name, first_missing(wait), errc_description(error));
}

std::uint64_t HostCollective::finished_by_all() const {
    std::uint64_t least = count_;
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        least = std::min(least, finished_by(member));
    }
    return least;
}

Status HostCollective::await_finished(Awaited awaited, std::atomic<std::uint64_t>& wanted) {
    const Wait what{this, awaited, rank_ + 1, coll::finished_to_wait_for(count_, depth())};
    std::atomic<std::uint32_t>& waiters = area_.head().room_waiters;
    // Partners: finish() and ring_who_wants_room(), which look at these before they ring.
    wanted.store(what.finished, std::memory_order_relaxed);
    waiters.fetch_add(1, std::memory_order_seq_cst);
    const Status status = wait(what);
    waiters.fetch_sub(1, std::memory_order_relaxed);
    wanted.store(0, std::memory_order_relaxed);
    return status;
}

/// Whoever is behind this rank looks when it has come as far: the last one rings.
void HostCollective::ring_who_wants_room() const {
    const std::uint64_t finished = count_ + 1;
    const auto ring_if_enough = [&](std::uint32_t member, std::atomic<std::uint64_t>& wanted) {
        const std::uint64_t enough = wanted.load(std::memory_order_relaxed);
        if (enough != 0 && enough <= finished) ring(member);
    };
    // Of two that come as far at once, one sees the other.
    area_.head().room_waiters.fetch_add(0, std::memory_order_seq_cst);
    if (rank_ > 0) ring_if_enough(rank_ - 1, area_.ring(rank_ - 1).wanted_of_next);
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        if (finished_by(member) < finished) return;
    }
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        ring_if_enough(member, area_.ring(member).wanted);
    }
}

}  // namespace dlrt
