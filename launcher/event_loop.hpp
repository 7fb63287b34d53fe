// SPDX-License-Identifier: Apache-2.0
/// The event loop of head and daemon: readiness of descriptors, timers, signals. One thread runs
/// each loop and owns all that hangs on it; handlers run inside run(), never inside the call that
/// asks for them. Asio does the work, and stands in event_loop.cpp alone.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>

namespace dlrt::launcher {

class EventLoop {
  public:
    EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;
    ~EventLoop();

    /// Until stop() or until nothing is waited for; then it may be run again.
    void run();
    void stop();
    /// Runs `handler` once, after all that is due now.
    void post(std::function<void()> handler);

    struct Impl;
    [[nodiscard]] Impl& impl() { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

/// One moment at a time: starting again forgets the earlier one.
class Timer {
  public:
    explicit Timer(EventLoop& loop);
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer();

    /// Calls `handler` once after this time, unless cancelled, started again or destroyed before.
    void start(std::chrono::nanoseconds after, std::function<void()> handler);
    void cancel();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Signals of the process as events, for as long as this lives.
class SignalWatch {
  public:
    explicit SignalWatch(EventLoop& loop);
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;
    ~SignalWatch();

    void add(int signal);
    /// Calls `handler` for each signal from now on.
    void when_signalled(std::function<void(int signal)> handler);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// A descriptor whose readiness is waited for; reading and writing it is up to the owner. Waiting
/// makes the open file non-blocking, also for others that share it: never watch a descriptor of the
/// user's. Owns the descriptor.
class DescriptorWatch {
  public:
    DescriptorWatch(EventLoop& loop, int descriptor);
    DescriptorWatch(const DescriptorWatch&) = delete;
    DescriptorWatch& operator=(const DescriptorWatch&) = delete;
    ~DescriptorWatch();

    [[nodiscard]] bool is_open() const;
    [[nodiscard]] int get() const;
    [[nodiscard]] EventLoop& loop() { return loop_; }

    /// Calls `handler` once, unless the descriptor is closed before.
    void when_readable(std::function<void()> handler);
    void when_writable(std::function<void()> handler);

    void cancel();
    /// Takes it out of the kernel's set, where each write to a pipe costs its writer a wake-up,
    /// until the next wait for it. Forgets a wait.
    void park();
    /// Taken out of the kernel's set before it is closed: a copy in another process would keep it
    /// there, and it would fire for ever.
    void close();

  private:
    struct Impl;
    EventLoop& loop_;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dlrt::launcher
