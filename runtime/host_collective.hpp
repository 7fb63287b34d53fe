// SPDX-License-Identifier: Apache-2.0
/// Small blocking collectives of a communicator whose ranks are all on this host, over cells in
/// shared memory. Carries out the programs of collectives/lowering.hpp; waits only in the engine.
///
/// Every cell says which call it belongs to. Where two ranks make different calls, all members of
/// the communicator that wait get Errc::mismatch, which names both; also where the other one's goes
/// over messages. After an error the communicator has no small collectives any more: they all fail
/// with it.
///
/// One operation at a time, as collectives of one communicator are; no allocation.
#pragma once

#include "collectives/lowering.hpp"
#include "runtime/arena.hpp"
#include "runtime/collective_comparison.hpp"
#include "runtime/collective_piece.hpp"
#include "runtime/engine.hpp"
#include "runtime/group.hpp"
#include "runtime/host_cells.hpp"
#include "runtime/reducer.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// One operation, in memory as it is carried: what coll::Placement and the contract of the
/// collective say about buffers holds.
struct HostCall {
    coll::Collective collective = coll::Collective::barrier;
    std::int32_t root = 0;
    coll::Placement placement = coll::Placement::separate;
    std::uint64_t size_bytes = 0;  ///< Of the vector, or of one block.
    /// Of the vector or block that this is a piece of; 0: it is all. Blocks lie so far apart.
    std::uint64_t whole_bytes = 0;
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    const Reducer* reducer = nullptr;       ///< Null where nothing is reduced.
    std::byte* reduction_memory = nullptr;  ///< reducer->memory_bytes().
    /// Of all data where it is of one kind, else `signature` tells.
    ElementType element = ElementType::none;
    std::uint32_t signature = 0;
    OperationNumber number;

    [[nodiscard]] std::uint64_t block_distance_bytes() const {
        return whole_bytes != 0 ? whole_bytes : size_bytes;
    }
};

class HostCollective {
  public:
    /// What has been worked out of a call, and stays as it is when that is made again with other
    /// buffers.
    struct Plan {
        HostCall call;
        Status (HostCollective::*program)() = nullptr;
        std::uint32_t arrival_count = 0;  ///< In the slot; 0 where they aren't counted.
        std::uint32_t digest = 0;         ///< Of what all ranks must agree on.
        std::uint64_t cell_bytes = 0;     ///< Of a contribution.
        ReduceKernel kernel = nullptr;    ///< Where the reduction is nothing more than that.
        std::uint64_t element_count = 0;  ///< For the kernel.
    };

    /// Where a new communicator of these members could have its cells, if there are any left and
    /// all members are on this host. Called by one of them, who tells the others.
    [[nodiscard]] static std::optional<std::uint32_t> claim(
        const Engine& engine, const Group& group
    );
    /// REQUIRES: all members are on this host, and all open this area.
    HostCollective(
        Engine& engine, ContextId user_context, GroupRef group, std::int32_t rank,
        std::uint32_t area
    );

    /// Whether the operation is to be done here. All ranks get the same answer.
    [[nodiscard]] bool takes(coll::Collective collective, std::uint64_t size_bytes) const {
        return coll::suits_cells(collective, size_, size_bytes);
    }
    /// REQUIRES: takes() it.
    Status run(const HostCall& call);
    /// The same for a call that was planned before; its buffers and number are the new ones.
    DLRT_CORE Status run_planned(const Plan& plan);
    /// The plan of the last call of run(), where it needs nothing but its buffers: it may be made
    /// again by whoever has the same arguments.
    [[nodiscard]] const Plan* repeatable() const { return is_repeatable_ ? &own_plan_ : nullptr; }
    void set_repeatable(bool is_repeatable) { is_repeatable_ = is_repeatable; }
    /// What calls keep between them.
    [[nodiscard]] PieceWorks& pieces() { return pieces_; }
    [[nodiscard]] Arena& staging() { return staging_; }
    [[nodiscard]] Arena& reduction_memory() { return reduction_memory_; }
    /// The communicator goes away.
    void leave();

  private:
    /// What is waited for.
    enum class Awaited : std::uint8_t { room, room_above, cell, lower_cell, arrivals, result };
    struct Wait {
        const HostCollective* self;
        Awaited awaited;
        std::uint32_t peer = 0;      ///< Whose cell.
        std::uint64_t finished = 0;  ///< How many operations all must be done with.
        mutable std::optional<std::string> disagreement = std::nullopt;
    };

    /// A program of coll::programs, compiled.
    Status run_piece(const HostCall& call);
    template<const auto& steps>
    Status run_program();
    [[nodiscard]] static Status (HostCollective::*compiled(const coll::CellProgram& program))();
    Status take_step(coll::CellStep step);
    Status take_last_step(coll::CellStep step);
    Status await_room();
    Status await_room_above();
    Status await_finished(Awaited awaited, std::atomic<std::uint64_t>& wanted);
    Status await(Awaited awaited, std::uint32_t peer);
    Status wait(const Wait& wait);
    [[nodiscard]] bool yield_until(const Wait& wait);
    [[nodiscard]] bool is_over(const Wait& wait) const;
    Status give_up(Errc error, WorldRank lost, const Wait& wait);
    void write();
    [[nodiscard]] bool arrive();
    Status combine();
    Status take_cells();
    void fold_cells(std::uint32_t end, std::uint64_t offset_bytes, std::byte* target) const;
    void fold_at_root() const;
    void copy_cells(std::uint64_t offset_bytes) const;
    Status take_root_cell();
    Status take_result();
    Status check_cell(std::uint32_t member);
    Status extend_lower_cell();
    Status take_own_prefix();
    void finish();
    void ring_who_wants_room() const;
    void ring(std::uint32_t member) const;
    void ring_others();

    [[nodiscard]] static bool has_come(const Wait& wait);
    [[nodiscard]] static bool needs(const Wait& wait, WorldRank rank);
    [[nodiscard]] bool has_arrived(std::uint32_t member) const;
    [[nodiscard]] std::uint64_t finished_by(std::uint32_t member) const {
        return area_.ring(member).finished.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint32_t first_missing(const Wait& wait) const;
    [[nodiscard]] std::uint64_t finished_by_all() const;
    Status compare_with_waiters();
    static void compare_calls(const Wait& wait, EngineInside& inside);
    [[nodiscard]] CallInProgress call_in_progress() const;
    Status dispute(std::uint32_t other);
    [[nodiscard]] std::uint64_t disputed_number(std::uint32_t other) const;
    [[nodiscard]] Status disputed();
    Status explain(std::uint64_t number, std::int32_t rank, std::int32_t other);

    [[nodiscard]] CellLine& line(std::uint32_t member) const {
        return area_.ring(member).lines[count_ % cell_line_depth];
    }
    [[nodiscard]] CellLine& result_line() const {
        return area_.results().lines[count_ % cell_line_depth];
    }
    [[nodiscard]] std::uint32_t mark() const { return static_cast<std::uint32_t>(count_ + 1); }
    [[nodiscard]] bool is_long(std::uint64_t bytes) const {
        return bytes > sizeof(CellLine::payload);
    }
    [[nodiscard]] std::byte* data_of(std::uint32_t member) const {
        return is_long(plan_->cell_bytes) ? area_.body(member, count_)
                                          : line(member).payload.data();
    }
    [[nodiscard]] std::byte* result_data() const {
        return is_long(plan_->cell_bytes) ? area_.result_body(count_)
                                          : result_line().payload.data();
    }
    [[nodiscard]] std::uint64_t depth() const {
        return is_long(plan_->cell_bytes) ? cell_body_depth : cell_line_depth;
    }
    /// Where this rank's contribution lies.
    [[nodiscard]] const std::byte* own_data() const;
    [[nodiscard]] const HostCall& call() const { return plan_->call; }
    void reduce(const std::byte* left, const std::byte* right, std::byte* target) const {
        if (plan_->kernel != nullptr) {
            return plan_->kernel(left, right, target, plan_->element_count);
        }
        call().reducer->apply(left, right, target, call().size_bytes, call().reduction_memory);
    }

    Engine* engine_;
    ContextId user_context_;
    GroupRef group_;
    CellAreas areas_;
    std::uint32_t number_;
    CellArea area_;
    const HostNotes* notes_;
    std::uint32_t rank_;
    std::int32_t size_;
    struct Other {
        Doorbell* bell;
        std::uint32_t local_rank;
    };
    std::vector<std::uint32_t> local_ranks_;  ///< By rank.
    std::vector<Other> others_;
    RingFence fence_;
    bool is_fence_needed_ = true;

    std::uint64_t count_ = 0;            ///< Operations so far; the number of the one at hand.
    std::uint64_t finished_by_all_ = 0;  ///< At least.
    std::uint64_t finished_by_next_ = 0;
    /// So many must all have finished before only the rank above reads this rank's cells.
    std::uint64_t read_by_all_ = 0;
    /// By slot: what its arrivals will be once all have come to the operation at hand.
    std::array<std::uint32_t, cell_line_depth> arrivals_{};
    PieceWorks pieces_;
    Arena staging_;
    Arena reduction_memory_;
    std::uint32_t waits_without_yield_ = 0;
    Status failure_;
    std::string failure_text_;

    std::uint32_t history_ = 0;
    Plan own_plan_;
    bool is_repeatable_ = false;

    // Of the operation at hand.
    const Plan* plan_ = nullptr;
    CellCall described_;
    bool is_last_ = false;
};

}  // namespace dlrt
