// SPDX-License-Identifier: Apache-2.0
/// Makes a schedule out of others: an algorithm is run as a *phase* among some of the ranks, on
/// parts of the whole operation's buffers.
///
/// A phase's ranks, chunks and lanes are mapped to those of the whole, step by step; its scratch
/// becomes a part of the whole's. Edges are derived anew from what the mapped steps read and write,
/// so phases overlap wherever data allows it, and what a phase leaves is what the next one finds.
/// Each phase has lanes of its own: messages of different phases cannot be mixed up. Limits on
/// messages under way (Schedule::window) are not kept.
///
/// Chunks of a phase need not be of one size: one may stand for the blocks of a whole group. Where
/// a place alone doesn't tell which chunk lies there, as in scratch, the schedules of all members
/// are followed to find out.
///
/// Pure; one thread at a time.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

#include <cstdint>
#include <vector>

namespace dlrt::coll {

/// Where a phase's input or output lies: its chunk k begins at that chunk of the whole's buffer.
struct Window {
    BufferId buffer = BufferId::none;
    std::vector<std::uint32_t> begins;
};

struct Phase {
    const Algorithm* algorithm = nullptr;
    /// Counted over the operation, by all ranks alike, also by those that are not in it.
    std::uint16_t number = 0;
    std::vector<std::int32_t> members;  ///< Their ranks in the whole, by rank in the phase.
    std::int32_t self = 0;              ///< This rank's number among them, as is the root.
    std::int32_t root = 0;
    Placement placement = Placement::separate;
    /// How many chunks of the whole each chunk of the phase is, the same on all members; of an
    /// alltoall by the other rank.
    std::vector<std::uint32_t> lengths;
    std::uint32_t first_like = 0;  ///< Where they begin in the vector, if that is split.
    Window input, output;          ///< What this rank has.
};

class Composition {
  public:
    Composition(const ScheduleBuilder::Header& header, const Shape& shape)
        : builder_(header, shape), is_split_(header.chunk_rule == ChunkRule::split) {}

    /// For steps between phases.
    [[nodiscard]] ScheduleBuilder& builder() { return builder_; }
    /// Scratch that nothing else uses; returns its first place.
    [[nodiscard]] std::uint32_t take_scratch(std::uint32_t length);

    void add(const Phase& phase);

    /// Only the messages of a phase, without data and in the order of its edges; returns them.
    struct Signal {
        StepKind kind = StepKind::send;
        std::int32_t peer = -1;  ///< In the whole.
        ScheduleBuilder::StepIndex step = 0;
    };
    std::vector<Signal> add_signals(const Phase& phase);

    [[nodiscard]] Schedule finish() && { return std::move(builder_).finish(); }

  private:
    ScheduleBuilder builder_;
    bool is_split_;
    std::uint32_t next_scratch_ = 0;
};

/// One rank's part of a phase.
[[nodiscard]] Schedule schedule_of(const Phase& phase);

/// By step of `own`, and by chunk that it works on: which of the phase's chunks it is (the block's
/// owner where each rank has one). Follows the schedules of all members. REQUIRES: no alltoall.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> chunk_labels(
    const Phase& phase, const Schedule& own
);

}  // namespace dlrt::coll
