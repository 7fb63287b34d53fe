// SPDX-License-Identifier: Apache-2.0
/// Spin, yield, sleep; and who does it when several threads wait.
#include "runtime/waiter.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/flight_recorder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace dlrt {
namespace {

/// A core found to be shared, or taken, is not spun or yielded on in so many waits; then it is
/// tried again.
constexpr std::uint32_t waits_after_slow_yield = 32;
/// A thread that wants the lock gets it before the owner of progress takes it again, unless it is
/// not scheduled for so many yields.
constexpr int yields_for_contenders = 64;

Fd watch(const Engine::Options& options) {
    const auto sleeps_on_descriptor = [](const auto& endpoint) {
        return endpoint->capabilities().sleep_descriptor >= 0;
    };
    const auto& endpoints = options.endpoints;
    if (std::none_of(endpoints.begin(), endpoints.end(), sleeps_on_descriptor)) return {};
    Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    const auto add = [&](int descriptor) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = descriptor;
        if (descriptor >= 0) ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event);
    };
    for (const auto& endpoint : endpoints) add(endpoint->capabilities().sleep_descriptor);
    add(options.doorbell_descriptor);
    return epoll;
}

/// On the clock of condition variables, which is that of monotonic_ns().
std::chrono::steady_clock::time_point time_of(std::uint64_t deadline_ns) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns));
}

/// For how long to sleep, at most `timeout_ns` (negative: no limit) and until the deadline, if any.
std::int64_t earlier(std::int64_t timeout_ns, std::uint64_t deadline_ns) {
    if (deadline_ns == 0) return timeout_ns;
    const std::uint64_t now_ns = monotonic_ns();
    const auto left_ns = static_cast<std::int64_t>(deadline_ns - std::min(deadline_ns, now_ns));
    return timeout_ns < 0 ? left_ns : std::min(timeout_ns, left_ns);
}

}  // namespace

Waiter::Waiter(Progress& progress, const Engine::Options& options)
    : progress_(progress),
      doorbell_(
          options.segment != nullptr ? &options.segment->doorbell(options.local_rank) : nullptr
      ),
      flight_recorder_(options.flight_recorder),
      budget_(options.wait_budget),
      fence_(options.ring_fence),
      epoll_(watch(options)),
      doorbell_descriptor_(options.doorbell_descriptor) {
    if (doorbell_ != nullptr) {
        doorbell_->adopt(budget_.is_core_shared ? RingFence::full : fence_);
    }
}

WaitPhase::Step Waiter::first_step() {
    if (waits_without_yield_ != 0) {
        --waits_without_yield_;
        return WaitPhase::Step::sleep;
    }
    if (waits_without_spin_ != 0) {
        --waits_without_spin_;
        return WaitPhase::Step::yield;
    }
    return WaitPhase::Step::spin;
}

bool Waiter::ask(const Condition& condition) {
    if (!is_multiple_ || condition.asked == Condition::Asked::by_any_thread) {
        return condition.is_true(condition.state);
    }
    unlock_shared_state();
    const bool is_true = condition.is_true(condition.state);
    lock_shared_state();
    return is_true;
}

void Waiter::wait_alone(const Condition& condition) {
    WaitPhase phase(budget_, first_step());
    Sleepiness sleepiness;
    for (;;) {
        const bool has_moved = progress_.progress();
        if (condition.is_true(condition.state)) return;
        if (has_moved) {
            phase.something_happened();
        } else {
            take_step(phase, condition, sleepiness);
        }
    }
}

void Waiter::take_step(WaitPhase& phase, const Condition& condition, Sleepiness& sleepiness) {
    switch (phase.next()) {
        case WaitPhase::Step::spin:
            cpu_pause();
            return;
        case WaitPhase::Step::yield:
            yield(phase);
            return;
        case WaitPhase::Step::sleep:
            break;
    }
    if (!sleepiness.is_marked && flight_recorder_ != nullptr) {
        flight_recorder_->mark_waiting(flight_recorder_->current());
    }
    sleepiness.is_marked = true;
    progress_.check_world();
    // It may have failed what other threads wait for.
    if (is_multiple_) wake_sleepers();
    sleep(phase, condition, earlier(compare_calls_in_time(sleepiness), condition.deadline_ns));
}

std::int64_t Waiter::compare_calls_in_time(Sleepiness& sleepiness) {
    if (!progress_.has_calls_to_compare()) return -1;
    if (progress_.is_told_of_disagreement()) progress_.compare_calls();
    const std::uint64_t now_ns = monotonic_ns();
    if (sleepiness.compares_at_ns == 0) {
        sleepiness.compares_at_ns = now_ns + sleepiness.compares_after_ns;
    } else if (now_ns >= sleepiness.compares_at_ns) {
        if (sleepiness.long_waiting == nullptr) {
            sleepiness.long_waiting = &progress_;
            progress_.begin_long_wait();
        }
        progress_.compare_calls();
        // Those who come later look themselves, but for one in the very moment of ours.
        sleepiness.compares_after_ns *= 8;
        sleepiness.compares_at_ns = now_ns + sleepiness.compares_after_ns;
    }
    return static_cast<std::int64_t>(sleepiness.compares_at_ns - now_ns);
}

void Waiter::yield(WaitPhase& phase) {
    const std::uint64_t begin_ns = monotonic_ns();
    ::sched_yield();
    const std::uint64_t taken_ns = monotonic_ns() - begin_ns;
    phase.yielded(taken_ns);
    if (taken_ns > budget_.shared_yield_ns) waits_without_spin_ = waits_after_slow_yield;
    if (taken_ns > budget_.stolen_yield_ns) waits_without_yield_ = waits_after_slow_yield;
}

void Waiter::sleep(WaitPhase& phase, const Condition& condition, std::int64_t timeout_ns) {
    if (doorbell_ == nullptr) {
        yield(phase);
        return;
    }
    doorbell_->announce_sleep(epoll_.is_open() ? SleepKind::descriptor : SleepKind::futex);
    const std::uint64_t events_seen = event_count_;
    // The question comes first: it may let other threads in.
    if (ask(condition) || progress_.has_arrivals() || event_count_ != events_seen) {
        doorbell_->cancel_sleep();
        return;
    }
    is_owner_asleep_ = true;
    if (is_multiple_) mutex_.unlock();
    if (epoll_.is_open()) {
        sleep_on_descriptors(timeout_ns);
    } else {
        doorbell_->sleep_futex(timeout_ns);
    }
    if (is_multiple_) lock_shared_state();
    is_owner_asleep_ = false;
}

void Waiter::sleep_on_descriptors(std::int64_t timeout_ns) {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    const int timeout_ms = timeout_ns < 0 ? -1 : static_cast<int>(timeout_ns / ns_per_ms + 1);
    std::array<epoll_event, 8> events;
    const int count = ::epoll_wait(
        epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms
    );
    doorbell_->cancel_sleep();
    for (int i = 0; i < count; ++i) {
        if (events[static_cast<std::size_t>(i)].data.fd != doorbell_descriptor_) continue;
        std::uint64_t rings = 0;
        // Its value says nothing: that it was readable has woken us.
        [[maybe_unused]] const ssize_t size = ::read(doorbell_descriptor_, &rings, sizeof rings);
    }
}

void Waiter::ring_own_doorbell() {
    if (doorbell_ == nullptr || doorbell_->ring(fence_) != SleepKind::descriptor) return;
    const std::uint64_t one = 1;
    // Fails only when the counter is full, and then the owner is woken already.
    [[maybe_unused]] const ssize_t size = ::write(doorbell_descriptor_, &one, sizeof one);
}

// ---- Several threads ----

void Waiter::lock_shared_state() {
    contenders_.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    contenders_.fetch_sub(1, std::memory_order_relaxed);
}

void Waiter::unlock_shared_state() {
    if (helper_ >= Helper::idle && !has_owner_) brief_helper();
    tell_others();
    mutex_.unlock();
}

void Waiter::tell_others() {
    const bool has_news = event_count_ != events_told_;
    wake_sleepers();
    if (is_owner_asleep_ && (has_news || progress_.has_unfinished_posts())) ring_own_doorbell();
}

void Waiter::wake_sleepers() {
    if (event_count_ == events_told_) return;
    events_told_ = event_count_;
    std::erase_if(sleepers_, [](Sleeper* sleeper) {
        const Condition& condition = *sleeper->condition;
        sleeper->is_woken = condition.asked == Condition::Asked::by_its_thread ||
                            condition.is_true(condition.state);
        if (sleeper->is_woken) sleeper->wake.notify_one();
        return sleeper->is_woken;
    });
}

void Waiter::hand_over() {
    if (has_owner_ || sleepers_.empty()) return;
    Sleeper* const heir = sleepers_.front();
    sleepers_.erase(sleepers_.begin());
    heir->is_woken = true;
    heir->wake.notify_one();
}

void Waiter::wait_among_threads(const Condition& condition) {
    for (;;) {
        if (!has_owner_) {
            wait_as_owner(condition);
            break;
        }
        const std::uint64_t events_seen = event_count_;
        if (ask(condition)) break;
        if (has_owner_ && event_count_ == events_seen) sleep_as_other(condition);
    }
    hand_over();
}

void Waiter::sleep_as_other(const Condition& condition) {
    tell_others();
    Sleeper self{&condition, {}, false};
    sleepers_.push_back(&self);
    std::unique_lock lock(mutex_, std::adopt_lock);
    const auto is_woken = [&self] { return self.is_woken; };
    if (condition.deadline_ns == 0) {
        self.wake.wait(lock, is_woken);
    } else if (!self.wake.wait_until(lock, time_of(condition.deadline_ns), is_woken)) {
        std::erase(sleepers_, &self);
    }
    // The caller goes on holding it.
    static_cast<void>(lock.release());
}

void Waiter::wait_as_owner(const Condition& condition) {
    has_owner_ = true;
    if (helper_ == Helper::watching) {
        doorbell_->cancel_sleep();
        helper_ = Helper::idle;
    }
    WaitPhase phase(budget_, first_step());
    Sleepiness sleepiness;
    for (;;) {
        const bool has_moved = progress_.progress();
        wake_sleepers();
        if (ask(condition)) break;
        if (has_moved) phase.something_happened();
        let_others_in();
        if (!has_moved) take_step(phase, condition, sleepiness);
    }
    has_owner_ = false;
}

void Waiter::let_others_in() {
    if (contenders_.load(std::memory_order_relaxed) == 0) return;
    mutex_.unlock();
    for (int i = 0; i < yields_for_contenders; ++i) {
        if (contenders_.load(std::memory_order_relaxed) == 0) break;
        ::sched_yield();
    }
    lock_shared_state();
}

// ---- A thread that helps ----

void Waiter::help() {
    lock_shared_state();
    if (epoll_.is_open()) {
        const auto is_over = [](void* self) {
            return static_cast<Waiter*>(self)->is_helper_stopping_;
        };
        wait_among_threads({is_over, this});
    } else {
        // It is announced after many calls: the barrier for all ringers would cost more than
        // theirs.
        doorbell_->adopt(RingFence::full);
        while (!is_helper_stopping_) {
            helper_ = Helper::awake;
            make_progress_as_helper();
            sleep_as_helper();
        }
        doorbell_->cancel_sleep();
        helper_ = Helper::none;
    }
    unlock_shared_state();
}

void Waiter::stop_helping() {
    lock_shared_state();
    is_helper_stopping_ = true;
    note_event();
    if (!epoll_.is_open()) {
        doorbell_->announce_sleep(SleepKind::helper);
        ring_own_doorbell();
    }
    unlock_shared_state();
}

void Waiter::make_progress_as_helper() {
    while (!has_owner_ && !is_helper_stopping_) {
        if (!progress_.progress()) {
            if (progress_.has_calls_to_compare() && progress_.is_told_of_disagreement()) {
                progress_.compare_calls();
            }
            progress_.check_world();
            return;
        }
        tell_others();
        let_others_in();
    }
}

void Waiter::sleep_as_helper() {
    const std::uint32_t sequence = doorbell_->sequence.load(std::memory_order_acquire);
    if (is_helper_stopping_) return;
    helper_ = Helper::idle;
    if (!has_owner_ && progress_.needs_progress()) {
        helper_ = Helper::watching;
        doorbell_->announce_sleep(SleepKind::helper);
        if (progress_.has_arrivals()) {
            doorbell_->cancel_sleep();
            return;
        }
    }
    tell_others();
    mutex_.unlock();
    doorbell_->sleep_as_helper(sequence);
    lock_shared_state();
}

void Waiter::brief_helper() {
    const bool is_watching = helper_ == Helper::watching;
    const bool has_new_work = progress_.has_new_work();
    // What comes from elsewhere rings.
    if (is_watching && !has_new_work) return;
    // What has just begun may be done at once, and then nobody need be woken for it.
    if (has_new_work) static_cast<void>(progress_.progress());
    if (!progress_.needs_progress()) return;
    if (!is_watching) {
        helper_ = Helper::watching;
        doorbell_->announce_sleep(SleepKind::helper);
    }
    if (progress_.has_arrivals() || progress_.has_unfinished_posts()) ring_own_doorbell();
}

}  // namespace dlrt
