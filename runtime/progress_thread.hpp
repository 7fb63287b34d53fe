// SPDX-License-Identifier: Apache-2.0
/// A thread that makes progress for the program while the program computes: see Engine::help(). No
/// signal is delivered to it. Made and destroyed by one thread.
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/engine.hpp"

#include <memory>
#include <thread>

namespace dlrt {

class ProgressThread {
  public:
    /// The engine outlives it. Errors: Errc::system.
    [[nodiscard]] static Result<std::unique_ptr<ProgressThread>> start(Engine& engine);
    /// Stops and joins. REQUIRES: not in a forked child.
    ~ProgressThread();
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

  private:
    explicit ProgressThread(Engine& engine) : engine_(engine) {}

    Engine& engine_;
    std::thread thread_;
};

}  // namespace dlrt
