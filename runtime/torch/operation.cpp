// SPDX-License-Identifier: Apache-2.0
/// Who holds an operation waits for its requests, alone; the others wait for the holder.
#include "runtime/torch/operation.hpp"

#include "runtime/torch/completer.hpp"

#include <algorithm>
#include <utility>

namespace dlrt_torch {
namespace {

/// What dlrt_waitany_for leaves when it isn't a request that has ended.
constexpr std::int32_t no_index = -1;

Clock::time_point after(Milliseconds time) {
    // Also what stands for "no limit" must fit the clock.
    constexpr Milliseconds longest = std::chrono::hours(24 * 365 * 30);
    return Clock::now() + std::min(time, longest);
}

std::int64_t left_ms(Clock::time_point until) {
    const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now()).count();
    return std::max<std::int64_t>(left, 0);
}

std::string in_words(Milliseconds time) {
    return std::to_string(time.count()) + " ms";
}

}  // namespace

Operation::Operation(
    Plan plan, dlrt_request request, std::shared_ptr<Completer> completer,
    std::shared_ptr<Health> health
)
    : plan_(std::move(plan)),
      request_(request),
      deadline_(after(plan_.timeout)),
      completer_(std::move(completer)),
      health_(std::move(health)) {
}

std::string Operation::name() const {
    std::string text = plan_.call;
    if (plan_.is_collective()) {
        text += ", collective " + std::to_string(plan_.sequence);
    } else {
        text += plan_.peer == Plan::any_peer ? " from any rank"
                                             : ", peer rank " + std::to_string(plan_.peer);
        text += ", tag " + std::to_string(plan_.tag);
    }
    return text + " of " + health_->group();
}

bool Operation::is_over() {
    {
        const std::lock_guard lock(mutex_);
        if (is_over_) return true;
        if (holder_ != Holder::nobody) return false;
        holder_ = Holder::waiter;
    }
    const bool is_complete = wait_for_request(Clock::time_point::min()) == Step::complete;
    if (is_complete) {
        conclude();
        return true;
    }
    std::unique_lock lock(mutex_);
    holder_ = Holder::nobody;
    if (!listeners_.empty()) give_to_completer(lock);
    changed_.notify_all();
    return false;
}

std::exception_ptr Operation::error() const {
    const std::lock_guard lock(mutex_);
    return error_;
}

int Operation::source() const {
    const std::lock_guard lock(mutex_);
    return status_.source;
}

void Operation::wait(Milliseconds at_most) {
    const bool has_own_limit = at_most > Milliseconds(0);
    const Clock::time_point until = has_own_limit ? std::min(after(at_most), deadline_) : deadline_;
    std::unique_lock lock(mutex_);
    while (!is_over_) {
        if (holder_ == Holder::nobody) {
            holder_ = Holder::waiter;
            lock.unlock();
            const Step step = wait_for_request(until);
            if (step == Step::complete) {
                conclude();
            } else if (until == deadline_) {
                fail_late(dlrt_last_error());
            }
            lock.lock();
            if (is_over_) break;
            holder_ = Holder::nobody;
            if (!listeners_.empty()) give_to_completer(lock);
            changed_.notify_all();
        } else if (until == deadline_) {
            // The holder knows the same limit.
            changed_.wait(lock, [&] { return is_over_ || holder_ == Holder::nobody; });
            continue;
        } else {
            changed_.wait_until(lock, until, [&] { return is_over_ || holder_ == Holder::nobody; });
        }
        if (!is_over_ && until != deadline_ && Clock::now() >= until) {
            throw Failure(
                DLRT_ERR_TIMEOUT, name() + ": not complete after a wait of " + in_words(at_most) +
                                      "; it goes on, and can be waited for again"
            );
        }
    }
    if (error_) std::rethrow_exception(error_);
}

void Operation::when_over(std::function<void()> tell) {
    {
        std::unique_lock lock(mutex_);
        if (!is_over_) {
            listeners_.push_back(std::move(tell));
            if (holder_ == Holder::nobody) give_to_completer(lock);
            return;
        }
    }
    tell();
}

void Operation::let_go() {
    std::unique_lock lock(mutex_);
    if (!is_over_ && holder_ == Holder::nobody) give_to_completer(lock);
}

void Operation::give_to_completer(std::unique_lock<std::mutex>&) {
    const bool is_taken = has_request() && completer_->take(shared_from_this());
    holder_ = is_taken ? Holder::completer : Holder::nobody;
}

Operation::Step Operation::wait_for_request(Clock::time_point until) {
    if (!has_request()) return Step::complete;
    std::int32_t index = no_index;
    dlrt_status status{};
    dlrt_request request = request_;
    const std::int64_t at_most_ms = until == Clock::time_point::min() ? 0 : left_ms(until);
    const dlrt_err outcome = dlrt_waitany_for(1, &request, at_most_ms, &index, &status);
    if (outcome == DLRT_ERR_TIMEOUT && index == no_index) return Step::late;
    note_end(outcome, status);
    return Step::complete;
}

void Operation::note_end(dlrt_err outcome, const dlrt_status& status) {
    request_ = DLRT_REQUEST_NULL;
    status_ = status;
    if (outcome == DLRT_OK) return;
    const Failure failure(outcome, name() + ": " + dlrt_last_error());
    failure_ = std::make_exception_ptr(failure);
    if (plan_.is_collective()) health_->fail(outcome, failure.what());
}

void Operation::conclude() {
    std::exception_ptr error = failure_;
    if (!error && plan_.finish && !is_late_) {
        try {
            plan_.finish(status_);
        } catch (...) {
            error = std::current_exception();
        }
    }
    plan_.finish = nullptr;
    end(error);
}

void Operation::fail_late(const std::string& what_is_missing) {
    const std::string text = name() + ": timed out after " + in_words(plan_.timeout) + ": " +
                             what_is_missing;
    if (plan_.is_collective()) health_->fail(DLRT_ERR_TIMEOUT, text);
    // A receive gives its buffer back; what else is in flight keeps it.
    if (!plan_.is_collective()) static_cast<void>(dlrt_cancel(request_));
    is_late_ = true;
    end(std::make_exception_ptr(Failure(DLRT_ERR_TIMEOUT, text)));
    completer_->take(shared_from_this());
}

void Operation::end(std::exception_ptr error) {
    std::vector<std::function<void()>> listeners;
    {
        const std::lock_guard lock(mutex_);
        if (is_over_) return;
        is_over_ = true;
        error_ = std::move(error);
        listeners.swap(listeners_);
        changed_.notify_all();
    }
    for (const auto& tell : listeners) tell();
}

void Health::fail(dlrt_err code, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (code_ != DLRT_OK) return;
    code_ = code;
    text_ = text;
    has_failed_.store(true, std::memory_order_release);
}

void Health::require_well(const char* call) const {
    if (!has_failed_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    throw Failure(
        code_, std::string(call) + ": " + group_ +
                   " is of no more use since an earlier call failed; destroy it. " + text_
    );
}

}  // namespace dlrt_torch
