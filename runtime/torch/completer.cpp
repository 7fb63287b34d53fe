// SPDX-License-Identifier: Apache-2.0
#include "runtime/torch/completer.hpp"

#include "runtime/torch/operation.hpp"

#include <algorithm>
#include <pthread.h>
#include <utility>

namespace dlrt_torch {
namespace {

constexpr std::int32_t wake_tag = 1;
constexpr std::int64_t an_hour_ms = 3'600'000;

}  // namespace

Completer::Completer() {
    require(dlrt_comm_dup(DLRT_COMM_SELF, &self_), "a communicator of the torch layer");
}

bool Completer::take(std::shared_ptr<Operation> operation) {
    const std::lock_guard lock(mutex_);
    if (is_over_) return false;
    new_.push_back(std::move(operation));
    if (is_stopping_) return false;
    if (has_leader_) {
        wake();
    } else {
        call_another();
    }
    return true;
}

void Completer::call_another() {
    if (idle_count_ != 0) return changed_.notify_one();
    threads_.emplace_back([this] { run(); });
    ::pthread_setname_np(threads_.back().native_handle(), "dlrt-torch");
}

void Completer::stop() {
    std::vector<std::thread> threads;
    Operations left;
    {
        std::unique_lock lock(mutex_);
        is_stopping_ = true;
        if (has_leader_) wake();
        changed_.notify_all();
        changed_.wait(lock, [this] { return !has_leader_; });
        threads.swap(threads_);
        left = held_;
        left.insert(left.end(), new_.begin(), new_.end());
    }
    // Before the threads are waited for: one may be telling somebody who waits for these.
    end_all(std::move(left));
    for (std::thread& thread : threads) thread.join();
    if (wake_request_.index != 0 && dlrt_cancel(wake_request_) == DLRT_OK) {
        static_cast<void>(dlrt_wait(&wake_request_, nullptr));
    }
}

void Completer::end_all(Operations operations) {
    const Failure failure(
        DLRT_ERR_ABORTED, "the process group was destroyed while this operation was in flight"
    );
    for (const auto& operation : operations) operation->end(std::make_exception_ptr(failure));
}

void Completer::forget() {
    std::vector<std::shared_ptr<Operation>> released;
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    released.swap(new_);
    held_.clear();
}

void Completer::wake() {
    // Without a payload it needs nobody's credit, so that it can't block.
    static_cast<void>(dlrt_send(nullptr, 0, DLRT_BYTE, 0, wake_tag, self_));
}

void Completer::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        ++idle_count_;
        changed_.wait(lock, [this] { return !has_leader_ || is_stopping_; });
        --idle_count_;
        if (is_stopping_) return;
        has_leader_ = true;
        lock.unlock();
        const Operations ended = lead();
        lock.lock();
        has_leader_ = false;
        if (is_stopping_) changed_.notify_all();
        const bool is_work_left = !held_.empty() || !new_.empty();
        if (!ended.empty() && is_work_left && !is_stopping_) call_another();
        lock.unlock();
        for (const auto& operation : ended) operation->conclude();
        lock.lock();
    }
}

Completer::Operations Completer::lead() {
    collect_new();
    const std::shared_ptr<Operation> ended = wait_once();
    end_late();
    forget_finished();
    return ended ? Operations{ended} : Operations{};
}

void Completer::collect_new() {
    const std::lock_guard lock(mutex_);
    for (auto& operation : new_) {
        const bool is_known = std::ranges::find(held_, operation) != held_.end();
        if (!is_known) held_.push_back(std::move(operation));
    }
    new_.clear();
}

std::shared_ptr<Operation> Completer::wait_once() {
    if (wake_request_.index == 0) {
        // Fails only where dlrt has gone, and then the wait below fails too.
        static_cast<void>(dlrt_irecv(nullptr, 0, DLRT_BYTE, 0, wake_tag, self_, &wake_request_));
    }
    std::vector<dlrt_request> requests{wake_request_};
    Operations owners{nullptr};
    std::int64_t limit_ms = an_hour_ms;
    for (const auto& operation : held_) {
        if (!operation->is_late_) {
            const auto left = std::chrono::ceil<Milliseconds>(operation->deadline_ - Clock::now());
            limit_ms = std::clamp<std::int64_t>(left.count(), 0, limit_ms);
        }
        requests.push_back(operation->request_);
        owners.push_back(operation);
    }
    std::int32_t index = -1;
    dlrt_status status{};
    const dlrt_err outcome = dlrt_waitany_for(
        static_cast<std::int32_t>(requests.size()), requests.data(), limit_ms, &index, &status
    );
    if (index < 0) return nullptr;
    std::shared_ptr<Operation> ended = owners[static_cast<std::size_t>(index)];
    if (ended == nullptr) {
        wake_request_ = DLRT_REQUEST_NULL;
    } else {
        ended->note_end(outcome, status);
    }
    return ended;
}

void Completer::end_late() {
    for (const auto& operation : held_) {
        if (operation->is_late_ || !operation->has_request()) continue;
        if (Clock::now() < operation->deadline_) continue;
        // At once, since it is about the words.
        if (operation->wait_for_request(Clock::time_point::min()) == Operation::Step::complete) {
            operation->conclude();
        } else {
            operation->fail_late(dlrt_last_error());
        }
    }
}

void Completer::forget_finished() {
    std::erase_if(held_, [](const auto& operation) { return !operation->has_request(); });
}

}  // namespace dlrt_torch
