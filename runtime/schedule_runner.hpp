// SPDX-License-Identifier: Apache-2.0
/// Runs one rank's schedule over the engine: starts each step when its predecessors are complete,
/// sends and receives in the communicator's collective context, copies and reduces in place.
///
/// Messages are told apart by a tag made of the operation's number, the step's lane and its order,
/// so that overlapping operations of one communicator cannot be mixed up. A message of another
/// length than the step expects is reported as Errc::mismatch: the ranks' arguments differ.
///
/// Allocates only when it meets a longer schedule than before. One operation at a time; with the
/// engine's lock held.
#pragma once

#include "collectives/schedule.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/collective_comparison.hpp"
#include "runtime/engine_task.hpp"
#include "runtime/group.hpp"
#include "runtime/reducer.hpp"
#include "runtime/typed_block.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// Where an operation's messages travel.
struct ScheduleChannel {
    const Group* group = nullptr;
    ContextId context{};
    OperationNumber number;   ///< The same on all ranks,
    std::uint32_t check = 0;  ///< and this, if they make the same call.
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
    /// Where the blocks of input and output differ, they stand here, and the two pointers above
    /// mean nothing. Only for schedules that treat blocks one by one and keep none but those of the
    /// first output block's size in scratch. In reductions they are pieces of bytes.
    const TypedBlock* input_blocks = nullptr;
    const TypedBlock* output_blocks = nullptr;
};

class ScheduleRunner final : public EngineTask {
  public:
    /// What the next rounds are of. REQUIRES: no round is in progress.
    void bind(const ScheduleChannel& channel, const ScheduleBinding& binding) {
        channel_ = channel;
        binding_ = binding;
    }

    void restart(EngineInside& inside) override;
    /// Takes what has completed and starts a bounded number of steps. The first step that fails
    /// ends the operation: receives are cancelled, the others' sends complete by themselves.
    Progress advance(EngineInside& inside) override;
    [[nodiscard]] Status outcome() const override;
    /// So far; while it is suspicious, it isn't known.
    [[nodiscard]] bool has_succeeded() const { return status_.ok(); }
    /// Somebody's message was wrong, and that rank of another host has been asked for its call.
    [[nodiscard]] bool is_suspicious() const { return suspicion_.has_value(); }
    [[nodiscard]] std::string describe_wait(EngineInside& inside) const override;
    void compare_calls(EngineInside& inside) override;
    void ask_others(EngineInside& inside) override;
    /// After a round that nothing went wrong in: whether messages of this operation or of earlier
    /// ones are left, which nobody will receive. REQUIRES: no other operation of the communicator
    /// is in flight, and this one isn't persistent.
    void look_for_leftovers(EngineInside& inside);
    /// After a round in which this rank has only sent, so that nobody's message could tell it:
    /// whether those to whom it has sent call something else.
    void look_at_targets(EngineInside& inside);
    void retire(EngineInside&) override {}

  private:
    void start_step(EngineInside& inside, std::uint32_t index);
    void add_request(EngineInside& inside, Request& request, std::uint32_t index);
    void complete_request(EngineInside& inside, Request& request, std::uint32_t index);
    void complete_step(std::uint32_t index);
    void collect(EngineInside& inside);
    void check_arrival(EngineInside& inside, std::uint32_t index, const MessageStatus& found);
    void explain_mismatch(EngineInside& inside, std::int32_t peer, const OperationNumber& number);
    void settle_suspicion(EngineInside& inside);
    void ask(EngineInside& inside, const CallInProgress& call, std::int32_t peer, AskAgain again);
    void ask_awaited(EngineInside& inside);
    void tell_others_of_failure(EngineInside& inside);
    [[nodiscard]] CallInProgress call_in_progress(const OperationNumber& number) const;
    void give_up(EngineInside& inside);
    void copy_blocks(EngineInside& inside, const coll::Step& step);

    template<typename... Args>
    void decide_failure(Errc code, fmt::format_string<Args...> format, Args&&... args);

    [[nodiscard]] Route route(const coll::Step& step) const;
    [[nodiscard]] std::uint64_t size_bytes(const coll::Step& step) const;
    [[nodiscard]] const std::byte* source_of(const coll::Place& place) const;
    [[nodiscard]] std::byte* target_of(const coll::Place& place) const;
    /// Null for a place in memory that is one piece of bytes.
    [[nodiscard]] const TypedBlock* block_at(const coll::Place& place) const;
    [[nodiscard]] ConstBuffer source_buffer(const coll::Step& step) const;
    [[nodiscard]] Buffer target_buffer(const coll::Step& step) const;

    ScheduleChannel channel_;
    ScheduleBinding binding_;
    struct Suspicion {
        std::int32_t peer;
        OperationNumber number;
        std::uint64_t ends_at_ns;  ///< Whoever answers nothing isn't waited for any longer.
    };
    std::optional<Suspicion> suspicion_;
    bool has_told_others_ = false;
    Status status_;
    std::string failure_;  ///< In words; who waits may be another thread than who noticed.
    std::size_t remaining_ = 0;
    std::size_t next_ready_ = 0;
    std::vector<std::uint32_t> ready_;          ///< In the order of becoming so; each step once.
    std::vector<std::uint32_t> pending_;        ///< Predecessors still to complete, by step.
    std::vector<Request*> requests_;            ///< In flight,
    std::vector<std::uint32_t> request_steps_;  ///< and whose they are.
};

}  // namespace dlrt
