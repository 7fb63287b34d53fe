// SPDX-License-Identifier: Apache-2.0
/// The thread that completes operations which nobody waits for: those with a future, those whose
/// work was dropped, and those that are late and must be kept. It starts with the first of them and
/// sleeps in dlrt, as any thread that waits.
#pragma once

#include "dlrt.h"

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
    /// Ends the thread. What it had has failed, but its memory is kept: dlrt may still use it.
    void stop();
    /// Gives that memory back, and takes nothing more.
    void forget();

  private:
    void run();
    bool collect_new();
    void wait_once();
    void end_late();
    void forget_finished();
    void wake();

    dlrt_comm self_ = DLRT_COMM_NULL;  ///< A message to oneself wakes the thread.
    dlrt_request wake_request_ = DLRT_REQUEST_NULL;
    std::mutex mutex_;
    std::vector<std::shared_ptr<Operation>> new_;
    bool is_stopping_ = false;
    bool is_over_ = false;
    std::thread thread_;
    std::vector<std::shared_ptr<Operation>> held_;  ///< The thread's own.
};

}  // namespace dlrt_torch
