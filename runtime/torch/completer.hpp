// SPDX-License-Identifier: Apache-2.0
/// The threads that complete operations which nobody waits for: those with a future, those whose
/// work was dropped, and those that are late and must be kept. One starts with the first of them
/// and sleeps in dlrt, as any thread that waits. Whoever is told of an end may himself wait for
/// another operation: so the thread that tells him gives its place to another before, where
/// anything is left to complete.
#pragma once

#include "dlrt.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dlrt_torch {

class Operation;

class Completer {
  public:
    /// Throws Failure.
    Completer();
    Completer(const Completer&) = delete;
    Completer& operator=(const Completer&) = delete;

    /// Keeps it until its request is complete. False: only its memory is kept, since the end is
    /// near. Any thread.
    bool take(std::shared_ptr<Operation> operation);
    /// Ends the threads. What they had has failed, but its memory is kept: dlrt may still use it.
    void stop();
    /// Gives that memory back, and takes nothing more.
    void forget();

  private:
    using Operations = std::vector<std::shared_ptr<Operation>>;

    void run();
    /// Waits for something to end, and returns what has, of whose end nobody knows yet.
    [[nodiscard]] Operations lead();
    void collect_new();
    [[nodiscard]] std::shared_ptr<Operation> wait_once();
    void end_late();
    void forget_finished();
    void wake();
    /// A thread that takes the free place. REQUIRES: mutex_ is held.
    void call_another();
    void end_all(Operations operations);

    dlrt_comm self_ = DLRT_COMM_NULL;  ///< A message to oneself wakes the thread.
    dlrt_request wake_request_ = DLRT_REQUEST_NULL;
    std::mutex mutex_;
    std::condition_variable changed_;
    Operations new_;
    bool is_stopping_ = false;
    bool is_over_ = false;
    bool has_leader_ = false;
    int idle_count_ = 0;  ///< Threads that wait for the place of the leader.
    std::vector<std::thread> threads_;
    Operations held_;  ///< The leader's own.
};

}  // namespace dlrt_torch
