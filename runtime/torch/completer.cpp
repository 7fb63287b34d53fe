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
    if (thread_.joinable()) {
        wake();
    } else {
        thread_ = std::thread([this] { run(); });
        ::pthread_setname_np(thread_.native_handle(), "dlrt-torch");
    }
    return true;
}

void Completer::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        if (!thread_.joinable()) return;
        wake();
    }
    thread_.join();
    const Failure failure(
        DLRT_ERR_ABORTED, "the process group was destroyed while this operation was in flight"
    );
    std::vector<std::shared_ptr<Operation>> left = held_;
    {
        const std::lock_guard lock(mutex_);
        left.insert(left.end(), new_.begin(), new_.end());
    }
    for (const auto& operation : left) operation->end(std::make_exception_ptr(failure));
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
    while (collect_new()) {
        wait_once();
        end_late();
        forget_finished();
    }
    if (dlrt_cancel(wake_request_) == DLRT_OK) {
        static_cast<void>(dlrt_wait(&wake_request_, nullptr));
    }
}

bool Completer::collect_new() {
    const std::lock_guard lock(mutex_);
    for (auto& operation : new_) {
        const bool is_known = std::ranges::find(held_, operation) != held_.end();
        if (!is_known) held_.push_back(std::move(operation));
    }
    new_.clear();
    return !is_stopping_;
}

void Completer::wait_once() {
    if (wake_request_.index == 0) {
        // Fails only where dlrt has gone, and then the wait below fails too.
        static_cast<void>(dlrt_irecv(nullptr, 0, DLRT_BYTE, 0, wake_tag, self_, &wake_request_));
    }
    std::vector<dlrt_request> requests{wake_request_};
    std::vector<Operation*> owners{nullptr};
    std::int64_t limit_ms = an_hour_ms;
    for (const auto& operation : held_) {
        if (!operation->is_late_) {
            const auto left = std::chrono::ceil<Milliseconds>(operation->deadline_ - Clock::now());
            limit_ms = std::clamp<std::int64_t>(left.count(), 0, limit_ms);
        }
        requests.push_back(operation->request_);
        owners.push_back(operation.get());
    }
    std::int32_t index = -1;
    dlrt_status status{};
    const dlrt_err outcome = dlrt_waitany_for(
        static_cast<std::int32_t>(requests.size()), requests.data(), limit_ms, &index, &status
    );
    if (index < 0) return;
    Operation* const operation = owners[static_cast<std::size_t>(index)];
    if (operation == nullptr) {
        wake_request_ = DLRT_REQUEST_NULL;
        return;
    }
    operation->note_end(outcome, status);
    operation->conclude();
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
