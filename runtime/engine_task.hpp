// SPDX-License-Identifier: Apache-2.0
/// Work of several messages that the engine carries on: a collective operation, or a group of
/// operations. A task is advanced by whoever makes progress, with the engine's lock held, so it
/// neither waits nor calls the Engine; what it may do there is an EngineInside.
#pragma once

#include "runtime/engine.hpp"

#include <cstdint>

namespace dlrt {

/// The engine for those who hold its lock. Requests made here are the task's until it releases
/// them.
class EngineInside {
  public:
    explicit EngineInside(EngineState& state) : state_(state) {}

    [[nodiscard]] Request& isend(const Route& to, const ConstBuffer& buffer);
    [[nodiscard]] Request& irecv(const Route& from, const Buffer& buffer);
    /// One still active completes by itself first.
    void release(Request& request);
    /// Ends a receive that nothing has arrived for; one that is filling goes on.
    void cancel(Request& receive);
    void drop_context(ContextId context);

  private:
    EngineState& state_;
};

class EngineTask {
  public:
    enum class Progress : std::uint8_t {
        waiting,     ///< For messages.
        unfinished,  ///< There is more to do at once; this round was long enough.
        over,
    };

    EngineTask() = default;
    EngineTask(const EngineTask&) = delete;
    EngineTask& operator=(const EngineTask&) = delete;

    /// Begins a round. REQUIRES: none is in progress.
    virtual void restart(EngineInside& inside) = 0;
    /// A bounded amount of work.
    virtual Progress advance(EngineInside& inside) = 0;
    /// Of the last round, once it is over; explains an error as the calling thread's last one.
    [[nodiscard]] virtual Status outcome() const = 0;
    /// Its request has gone: it is the engine's no more.
    virtual void retire(EngineInside& inside) = 0;

  protected:
    ~EngineTask() = default;
};

}  // namespace dlrt
