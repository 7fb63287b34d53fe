// SPDX-License-Identifier: Apache-2.0
/// One operation in flight: its request, what must live as long as that does, and who finds that it
/// is complete. That is the thread that waits, so that a call which is waited for at once costs no
/// switch of threads; the completer, where somebody wants to be told without waiting; or whoever
/// asks. Any thread.
#pragma once

#include "dlrt.h"

#include "runtime/torch/failure.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace dlrt_torch {

class Completer;
class Health;

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// What an operation is made of.
struct Plan {
    const char* call = "";       ///< As torch names it. Lives for ever.
    std::uint64_t sequence = 0;  ///< Of a collective, in its group.
    int peer = no_peer;          ///< Of a message.
    int tag = 0;
    Milliseconds timeout{0};
    static constexpr int no_peer = -1;
    static constexpr int any_peer = -2;

    [[nodiscard]] bool is_collective() const { return peer == no_peer; }
    /// Runs once, when the request has succeeded, and may throw; what it holds lives until then.
    std::function<void(const dlrt_status&)> finish;
};

class Operation : public std::enable_shared_from_this<Operation> {
  public:
    /// The request has begun. A group that fails is told by `health`.
    Operation(
        Plan plan, dlrt_request request, std::shared_ptr<Completer> completer,
        std::shared_ptr<Health> health
    );
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Looks, without waiting.
    [[nodiscard]] bool is_over();
    /// Null while it is in flight, and when it succeeded.
    [[nodiscard]] std::exception_ptr error() const;
    /// Rank that a receive from anybody got its message from.
    [[nodiscard]] int source() const;
    /// Throws what went wrong. 0: as long as the group allows; then, and when the time of the group
    /// is over, the operation has failed. A time given here only ends this wait.
    void wait(Milliseconds at_most);
    /// `tell` is called once it is over: by this thread if it is already, else by any.
    void when_over(std::function<void()> tell);
    /// Nobody will wait: it completes all the same.
    void let_go();

  private:
    friend class Completer;
    enum class Holder { nobody, waiter, completer };
    enum class Step { complete, late };

    [[nodiscard]] std::string name() const;
    /// Waits for the request until that time. REQUIRES: the caller is the holder.
    Step wait_for_request(Clock::time_point until);
    /// Of the request. REQUIRES: the caller is the holder.
    void note_end(dlrt_err outcome, const dlrt_status& status);
    [[nodiscard]] bool has_request() const { return request_.index != 0; }
    /// After the end of the request.
    void conclude();
    /// The time of the group is over. The request stays, and so does what it uses.
    void fail_late(const std::string& what_is_missing);
    void end(std::exception_ptr error);
    /// REQUIRES: the lock, nobody holds it.
    void give_to_completer(std::unique_lock<std::mutex>& lock);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Plan plan_;
    dlrt_request request_;
    dlrt_status status_{};
    Clock::time_point deadline_;
    std::shared_ptr<Completer> completer_;
    std::shared_ptr<Health> health_;
    Holder holder_ = Holder::nobody;
    bool is_over_ = false;
    bool is_late_ = false;
    std::exception_ptr error_;
    std::exception_ptr failure_;  ///< Of the request.
    std::vector<std::function<void()>> listeners_;
};

/// Whether a group can still be used. After an error of a collective its ranks are no longer in the
/// same operation, and every later call says so at once.
class Health {
  public:
    explicit Health(std::string group) : group_(std::move(group)) {}
    [[nodiscard]] const std::string& group() const { return group_; }
    void fail(dlrt_err code, const std::string& text);
    /// Throws what has happened, if anything.
    void require_well(const char* call) const;

  private:
    std::string group_;
    std::atomic<bool> has_failed_{false};
    mutable std::mutex mutex_;
    dlrt_err code_ = DLRT_OK;
    std::string text_;
};

}  // namespace dlrt_torch
