// SPDX-License-Identifier: Apache-2.0
/// The one place where a thread waits: spin, yield, sleep on the doorbell.
///
/// With several threads, one of those that wait owns progress: it polls, and sleeps on the
/// doorbell. The others sleep on their own condition variable until somebody finds their condition
/// true, or hands them the ownership.
///
/// A helper, where one is wanted, owns progress while nobody waits and some operation is
/// unfinished. Then the doorbell says so, and its thread sleeps on it. Who waits takes the doorbell
/// for itself and announces the helper again when it leaves; the helper's thread sleeps on.
#pragma once

#include "runtime/base/cpu_pause.hpp"
#include "runtime/base/doorbell.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/engine.hpp"
#include "runtime/wait_budget.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace dlrt {

/// What the waiter asks of the engine. All calls come from the thread that holds the lock.
class Progress {
  public:
    /// One bounded round; whether anything happened.
    virtual bool progress() = 0;
    /// Whether progress() would find something that came from outside, or from another thread's
    /// call.
    [[nodiscard]] virtual bool has_arrivals() = 0;
    /// Whether there is something to post that a busy transport will take some time later.
    [[nodiscard]] virtual bool has_unfinished_posts() const = 0;
    /// Whether progress() would find something of this rank's own: begun since, or left unfinished.
    [[nodiscard]] virtual bool has_new_work() const = 0;
    /// Whether any operation is unfinished, so that progress() may be needed some time.
    [[nodiscard]] virtual bool needs_progress() const = 0;
    /// Looks whether the job was aborted or peers have gone, and fails what can't complete any
    /// more.
    virtual void check_world() = 0;
    /// Whether this rank is in operations in which others might do something else, and a look
    /// whether they do.
    [[nodiscard]] virtual bool has_calls_to_compare() const = 0;
    virtual void compare_calls() = 0;
    /// Whether another rank has found, since the last look, that calls differ.
    [[nodiscard]] virtual bool is_told_of_disagreement() const = 0;
    /// Who has looked and found nothing says so while it goes on waiting: those who come later
    /// look, too.
    virtual void begin_long_wait() = 0;
    virtual void end_long_wait() = 0;

  protected:
    ~Progress() = default;
};

/// What somebody waits for.
struct Condition {
    enum class Asked : std::uint8_t {
        by_any_thread,  ///< Under the lock.
        by_its_thread,  ///< It calls the engine itself: only by who waits, without the lock.
    };
    bool (*is_true)(void* state);
    void* state;
    Asked asked = Asked::by_any_thread;
    /// When to ask again at the latest, whatever happens: the condition knows that it is over then.
    /// 0: never.
    std::uint64_t deadline_ns = 0;
};

/// In which phase a wait is. Pure.
class WaitPhase {
  public:
    enum class Step : std::uint8_t { spin, yield, sleep };

    /// `first`: what not to begin before.
    WaitPhase(const WaitBudget& budget, Step first)
        : spins_each_(first == Step::spin ? budget.spin_rounds : 0),
          yields_each_(first == Step::sleep ? 0 : budget.yield_rounds),
          lone_each_ns_(budget.lone_yield_ns),
          shared_yield_ns_(budget.shared_yield_ns) {
        something_happened();
    }

    /// What to do after one more poll in vain.
    [[nodiscard]] Step next() {
        if (spins_left_ != 0) {
            --spins_left_;
            return Step::spin;
        }
        return yields_left_ != 0 ? Step::yield : Step::sleep;
    }
    /// After each yield: one that ran nobody costs of its time only, as long as there is some.
    void yielded(std::uint64_t taken_ns) {
        if (taken_ns <= shared_yield_ns_ && taken_ns <= lone_left_ns_) {
            lone_left_ns_ -= static_cast<std::uint32_t>(taken_ns);
        } else if (yields_left_ != 0) {
            --yields_left_;
        }
    }
    /// Something came, though not what is waited for: more may follow soon.
    void something_happened() {
        spins_left_ = spins_each_;
        yields_left_ = yields_each_;
        lone_left_ns_ = lone_each_ns_;
    }

  private:
    std::uint32_t spins_each_, yields_each_, lone_each_ns_, shared_yield_ns_;
    std::uint32_t spins_left_ = 0, yields_left_ = 0, lone_left_ns_ = 0;
};

class Waiter {
  public:
    Waiter(Progress& progress, const Engine::Options& options);
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    void set_thread_mode(ThreadMode mode) { is_multiple_ = mode == ThreadMode::multiple; }
    /// May be null.
    [[nodiscard]] FlightRecorder* flight_recorder() const { return flight_recorder_; }
    [[nodiscard]] bool is_multiple() const { return is_multiple_; }

    /// Nothing below ThreadMode::multiple.
    void lock() {
        if (is_multiple_) lock_shared_state();
    }
    void unlock() {
        if (is_multiple_) unlock_shared_state();
    }

    /// Returns when the condition is true. REQUIRES: locked.
    void wait(const Condition& condition) {
        if (condition.asked == Condition::Asked::by_any_thread &&
            condition.is_true(condition.state)) {
            return;
        }
        if (is_multiple_) {
            wait_among_threads(condition);
        } else {
            wait_alone(condition);
        }
    }
    /// Notes that conditions may have become true. REQUIRES: locked.
    void note_event() { ++event_count_; }
    [[nodiscard]] std::uint64_t event_count() const { return event_count_; }

    // See Engine.
    void help();
    void stop_helping();

  private:
    struct Sleeper {
        const Condition* condition;
        std::condition_variable wake;
        bool is_woken = false;
    };

    void lock_shared_state();
    void unlock_shared_state();
    void wait_alone(const Condition& condition);
    void wait_among_threads(const Condition& condition);
    void wait_as_owner(const Condition& condition);
    void sleep_as_other(const Condition& condition);
    void let_others_in();
    [[nodiscard]] bool ask(const Condition& condition);
    /// What a wait has done about itself once it began to sleep.
    struct Sleepiness {
        Sleepiness() = default;
        Sleepiness(const Sleepiness&) = delete;
        Sleepiness& operator=(const Sleepiness&) = delete;
        ~Sleepiness() {
            if (long_waiting != nullptr) long_waiting->end_long_wait();
        }
        bool is_marked = false;
        Progress* long_waiting = nullptr;
        std::uint64_t compares_at_ns = 0;  ///< 0: not yet known.
        std::uint64_t compares_after_ns = first_comparison_after_ns;
    };
    static constexpr std::uint64_t first_comparison_after_ns = 250'000'000;

    void take_step(WaitPhase& phase, const Condition& condition, Sleepiness& sleepiness);
    [[nodiscard]] std::int64_t compare_calls_in_time(Sleepiness& sleepiness);
    void yield(WaitPhase& phase);
    void sleep(WaitPhase& phase, const Condition& condition, std::int64_t timeout_ns);
    void sleep_on_descriptors(std::int64_t timeout_ns);
    void tell_others();
    void make_progress_as_helper();
    void sleep_as_helper();
    /// By who leaves: the helper may have something to do.
    void brief_helper();
    void wake_sleepers();
    void hand_over();
    void ring_own_doorbell();
    [[nodiscard]] WaitPhase::Step first_step();

    Progress& progress_;
    Doorbell* doorbell_;
    FlightRecorder* flight_recorder_;
    WaitBudget budget_;
    RingFence fence_;
    Fd epoll_;  ///< Open when an endpoint sleeps on a descriptor.
    int doorbell_descriptor_;
    std::uint32_t waits_without_spin_ = 0;
    std::uint32_t waits_without_yield_ = 0;
    bool is_multiple_ = false;

    std::mutex mutex_;
    std::atomic<std::uint32_t> contenders_{0};  ///< Threads that want the lock.
    std::vector<Sleeper*> sleepers_;
    std::uint64_t event_count_ = 0;
    std::uint64_t events_told_ = 0;
    bool has_owner_ = false;
    bool is_owner_asleep_ = false;

    enum class Helper : std::uint8_t {
        none,
        awake,
        idle,      ///< Asleep; nobody is told to wake it.
        watching,  ///< Asleep; the doorbell says that it wants to be woken.
    };
    Helper helper_ = Helper::none;
    bool is_helper_stopping_ = false;
};

/// Holds the lock for a scope.
class EngineLock {
  public:
    explicit EngineLock(Waiter& waiter) : waiter_(waiter) { waiter_.lock(); }
    ~EngineLock() { waiter_.unlock(); }
    EngineLock(const EngineLock&) = delete;
    EngineLock& operator=(const EngineLock&) = delete;

  private:
    Waiter& waiter_;
};

}  // namespace dlrt
