// SPDX-License-Identifier: Apache-2.0
/// Work of several messages that the engine carries on: a collective operation, or a group of
/// operations. A task is advanced by whoever makes progress, with the engine's lock held, so it
/// neither waits nor calls the Engine; what it may do there is an EngineInside.
#pragma once

#include "runtime/calls_elsewhere.hpp"
#include "runtime/engine.hpp"
#include "runtime/match_queues.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace dlrt {

/// The engine for those who hold its lock. Requests made here are the task's until it releases
/// them.
class EngineInside {
  public:
    explicit EngineInside(EngineState& state) : state_(state) {}

    /// `check`: what both sides must have alike, else the receive ends with Errc::mismatch; 28
    /// bits.
    [[nodiscard]] Request& isend(const Route& to, const ConstBuffer& buffer, std::uint32_t check);
    [[nodiscard]] Request& irecv(const Route& from, const Buffer& buffer, std::uint32_t check);
    /// One still active completes by itself first.
    void release(Request& request);
    /// Ends a receive that nothing has arrived for; one that is filling goes on.
    void cancel(Request& receive);
    void drop_context(ContextId context);
    /// See EngineState::find_call().
    [[nodiscard]] std::optional<FlightEntry> find_call(
        WorldRank rank, ContextId context, std::int32_t number
    ) const;
    [[nodiscard]] std::optional<FlightEntry> find_failed_call(WorldRank rank, ContextId context)
        const;
    /// See EngineState::has_come().
    [[nodiscard]] std::optional<bool> has_come(
        WorldRank rank, ContextId context, std::int32_t number
    ) const;
    /// See EngineState::has_freed().
    [[nodiscard]] bool has_freed(WorldRank rank, ContextId context, std::int32_t number) const;
    /// Whether the rank is on another host, so that it must be asked for its calls.
    [[nodiscard]] bool is_elsewhere(WorldRank rank) const;
    /// What the rank's call of that number is. Who waits compares calls once it has answered; ranks
    /// of this host need not be asked.
    void ask(const CallsElsewhere::Question& question, AskAgain again);
    /// Lets a rank of another host know that this rank's call has failed.
    void tell_of_failed_call(WorldRank rank, ContextId context, std::int32_t number);
    /// From here to the end the task is advanced even when nothing happens.
    void begin_suspicion();
    void end_suspicion();
    /// Lets the others of the host know that this operation failed for all of the communicator.
    void mark_failed(ContextId context, FlightPlace place);
    /// The oldest message without a receive in the context for whose key `is_wanted`.
    [[nodiscard]] std::optional<MatchKey> find_waiting(
        ContextId context, const std::function<bool(const MatchKey&)>& is_wanted
    ) const;
    /// Whether any message waits for its receive.
    [[nodiscard]] bool has_waiting() const;
    /// For other parts of the engine itself.
    [[nodiscard]] EngineState& state() { return state_; }

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
    /// Looks whether the others are in the same operation; now and then while it waits.
    virtual void compare_calls(EngineInside& inside) = 0;
    /// Asks the ranks of other hosts whether they have come to the call.
    virtual void ask_others(EngineInside&) {}
    /// The call, and who hasn't come to it yet.
    [[nodiscard]] virtual std::string describe_wait(EngineInside& inside) const = 0;
    /// Its request has gone: it is the engine's no more.
    virtual void retire(EngineInside& inside) = 0;

  protected:
    ~EngineTask() = default;
};

}  // namespace dlrt
