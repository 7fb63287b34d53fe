// SPDX-License-Identifier: Apache-2.0
/// Runs one rank's schedule over the engine: starts each step when its predecessors are complete,
/// sends and receives in the communicator's collective context, copies and reduces in place. Waits
/// only in the engine.
///
/// Messages are told apart by a tag made of the operation's sequence number, the step's lane and
/// its order, so that overlapping operations of one communicator cannot be mixed up. A message of
/// another length than the step expects is reported as Errc::mismatch: the ranks' arguments differ.
///
/// Allocates only when it meets a longer schedule than before. One operation at a time; one thread
/// at a time.
#pragma once

#include "collectives/schedule.hpp"
#include "runtime/engine.hpp"
#include "runtime/group.hpp"
#include "runtime/reducer.hpp"

#include <cstdint>
#include <vector>

namespace dlrt {

/// Where an operation's messages travel.
struct ScheduleChannel {
    Engine* engine = nullptr;
    const Group* group = nullptr;
    ContextId context{};
    std::uint64_t sequence = 0;  ///< Of the operation, the same on all ranks.
};

/// What the symbols of a schedule stand for. The schedule, the reducer and the memory outlive the
/// run.
struct ScheduleBinding {
    const coll::Schedule* schedule = nullptr;
    coll::ChunkSizes sizes;
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::byte* scratch = nullptr;           ///< scratch_chunks times sizes.full_bytes().
    const Reducer* reducer = nullptr;       ///< Null where nothing is reduced.
    std::byte* reduction_memory = nullptr;  ///< reducer->memory_bytes().
};

class ScheduleRunner {
  public:
    /// REQUIRES: no run is in progress.
    void start(const ScheduleChannel& channel, const ScheduleBinding& binding);

    /// Takes what has completed and starts at most step_count_max steps; never waits, makes no
    /// progress in the engine. True when the operation is over.
    [[nodiscard]] bool advance(std::uint32_t step_count_max);

    /// Waits until the operation is over. The first step that fails ends it: receives are
    /// cancelled, the others' sends complete by themselves.
    Status finish();

  private:
    void start_step(std::uint32_t index);
    void add_request(Request* request, std::uint32_t index);
    void complete_request(Request* request, std::uint32_t index);
    void complete_step(std::uint32_t index);
    void collect();
    void check_arrival(std::uint32_t index, const MessageStatus& found);
    void give_up();

    [[nodiscard]] Route route(const coll::Step& step) const;
    [[nodiscard]] std::uint64_t size_bytes(const coll::Step& step) const {
        return binding_.sizes.size_bytes(step.like, step.length);
    }
    [[nodiscard]] const std::byte* source_of(const coll::Place& place) const;
    [[nodiscard]] std::byte* target_of(const coll::Place& place) const;

    ScheduleChannel channel_;
    ScheduleBinding binding_;
    Status status_;
    std::size_t remaining_ = 0;
    std::size_t next_ready_ = 0;
    std::vector<std::uint32_t> ready_;          ///< In the order of becoming so; each step once.
    std::vector<std::uint32_t> pending_;        ///< Predecessors still to complete, by step.
    std::vector<Request*> requests_;            ///< In flight,
    std::vector<std::uint32_t> request_steps_;  ///< and whose they are.
};

}  // namespace dlrt
