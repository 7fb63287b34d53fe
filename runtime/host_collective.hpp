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
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    const Reducer* reducer = nullptr;       ///< Null where nothing is reduced.
    std::byte* reduction_memory = nullptr;  ///< reducer->memory_bytes().
    /// Of all data where it is of one kind, else `signature` tells.
    ElementType element = ElementType::none;
    std::uint32_t signature = 0;
    OperationNumber number;
};

class HostCollective {
  public:
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
    /// What calls keep between them.
    [[nodiscard]] PieceWorks& pieces() { return pieces_; }
    [[nodiscard]] Arena& staging() { return staging_; }
    [[nodiscard]] Arena& reduction_memory() { return reduction_memory_; }
    /// The communicator goes away.
    void leave();

  private:
    /// What is waited for.
    enum class Awaited : std::uint8_t { room, cell, arrivals, result };
    struct Wait {
        const HostCollective* self;
        Awaited awaited;
        std::uint32_t peer = 0;      ///< Whose cell.
        std::uint64_t finished = 0;  ///< How many operations all must be done with.
        mutable std::optional<std::string> disagreement = std::nullopt;
    };

    Status take_step(coll::CellStep step);
    Status take_last_step(coll::CellStep step);
    Status await_room();
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
    void finish();
    void ring_others();

    [[nodiscard]] static bool has_come(const Wait& wait);
    [[nodiscard]] static bool needs(const Wait& wait, WorldRank rank);
    [[nodiscard]] bool has_arrived(std::uint32_t member) const;
    [[nodiscard]] std::uint32_t first_missing(const Wait& wait) const;
    [[nodiscard]] std::uint64_t finished_by_all() const;
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
        return is_long(cell_bytes_) ? area_.body(member, count_) : line(member).payload.data();
    }
    [[nodiscard]] std::byte* result_data() const {
        return is_long(cell_bytes_) ? area_.result_body(count_) : result_line().payload.data();
    }
    [[nodiscard]] std::uint64_t depth() const {
        return is_long(cell_bytes_) ? cell_body_depth : cell_line_depth;
    }
    /// Where this rank's contribution lies.
    [[nodiscard]] const std::byte* own_data() const;
    [[nodiscard]] bool is_root() const { return call_.root == static_cast<std::int32_t>(rank_); }
    void reduce(const std::byte* left, const std::byte* right, std::byte* target) const {
        call_.reducer->apply(left, right, target, call_.size_bytes, call_.reduction_memory);
    }

    Engine* engine_;
    ContextId user_context_;
    GroupRef group_;
    CellAreas areas_;
    std::uint32_t number_;
    CellArea area_;
    std::uint32_t rank_;
    std::int32_t size_;
    std::vector<std::uint32_t> local_ranks_;  ///< By rank.
    RingFence fence_;
    bool is_fence_needed_ = true;

    std::uint64_t count_ = 0;            ///< Operations so far; the number of the one at hand.
    std::uint64_t finished_by_all_ = 0;  ///< At least.
    /// By slot: what its arrivals will be once all have come to the operation at hand.
    std::array<std::uint32_t, cell_line_depth> arrivals_{};
    PieceWorks pieces_;
    Arena staging_;
    Arena reduction_memory_;
    std::uint32_t waits_without_yield_ = 0;
    Status failure_;
    std::string failure_text_;

    // Of the operation at hand.
    HostCall call_;
    CellCall described_;
    std::uint32_t history_ = 0;
    std::uint64_t cell_bytes_ = 0;  ///< Of a contribution.
    bool is_last_ = false;
};

}  // namespace dlrt
