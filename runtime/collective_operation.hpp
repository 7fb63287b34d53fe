// SPDX-License-Identifier: Apache-2.0
/// One collective operation on its way: the schedule chosen for it, the memory that its data needs
/// beside the buffers, and the pieces in which long vectors are done. Blocking calls run it as a
/// task of the engine; the others put a request in front of it.
///
/// Everything is allocated before the first message, and kept: an operation that is made again with
/// the same shape allocates nothing.
///
/// Threads: open() by the caller; the rest with the engine's lock held.
#pragma once

#include "collectives/algorithms.hpp"
#include "runtime/arena.hpp"
#include "runtime/collective_blocks.hpp"
#include "runtime/collective_call.hpp"
#include "runtime/collective_piece.hpp"
#include "runtime/schedule_runner.hpp"

#include <memory>

namespace dlrt {

class Communicator;

class CollectiveOperation final : public EngineTask {
  public:
    /// One with a request in front of it keeps what it uses.
    using Form = CollectiveForm;

    /// Binds to the call. Takes as many of the communicator's operation numbers on every rank.
    /// Errors: Errc::op, Errc::no_memory; then nothing has been sent.
    Status open(Communicator& comm, const CollectiveCall& call, Form form);
    /// Keeps the communicator as long as the operation is the engine's.
    void keep(std::shared_ptr<Communicator> comm) { keeper_ = std::move(comm); }

    void restart(EngineInside& inside) override;
    Progress advance(EngineInside& inside) override;
    [[nodiscard]] Status outcome() const override { return runner_.outcome(); }
    void compare_calls(EngineInside& inside) override { runner_.compare_calls(inside); }
    void ask_others(EngineInside& inside) override { runner_.ask_others(inside); }
    [[nodiscard]] std::string describe_wait(EngineInside& inside) const override {
        return runner_.describe_wait(inside);
    }
    void retire(EngineInside& inside) override;

  private:
    void hold_layouts();
    Status open_even(Communicator& comm);
    Status open_uneven(Communicator& comm);
    void take_schedule(
        Communicator& comm, const coll::Algorithm& algorithm, coll::Placement placement
    );
    Status take_memory(std::uint64_t scratch_bytes, std::uint64_t staging_bytes);
    void begin_piece(EngineInside& inside);
    void look_for_leftovers(EngineInside& inside);
    [[nodiscard]] Status no_memory(std::uint64_t bytes) const;

    CollectiveCall call_;
    Communicator* comm_ = nullptr;
    Form form_ = Form::blocking;
    Reducer reducer_;  ///< Of a reduction, which keeps what it is made of.
    LayoutRef held_layouts_[2];
    std::shared_ptr<Communicator> keeper_;
    const coll::Algorithm* algorithm_ = nullptr;
    std::shared_ptr<const coll::Schedule> schedule_;
    ScheduleChannel channel_;
    std::uint64_t first_number_ = 0;
    bool is_uneven_ = false;
    PieceWorks pieces_;  ///< Of an even call,
    BlockWorks blocks_;  ///< or of an uneven one.
    Arena scratch_;
    Arena staging_;
    Arena reduction_memory_;
    ScheduleRunner runner_;
};

}  // namespace dlrt
