// SPDX-License-Identifier: Apache-2.0
/// Reduce-scatter by recursive halving, from which the Rabenseifner algorithms begin: with the
/// numbers of a fold, in round k a rank and the one whose number differs in bit k halve the range
/// of chunks that they still share, and each reduces one half. There are as many chunks as numbers.
///
/// Near ranks come first, so that operands meet in the order of ranks. One thread at a time.
#pragma once

#include "collectives/fold.hpp"
#include "collectives/schedule_builder.hpp"

#include <span>
#include <vector>

namespace dlrt::coll {

struct ChunkRange {
    std::uint32_t first = 0;
    std::uint32_t length = 0;
};

class Halving {
  public:
    struct Round {
        std::int32_t bit = 0;
        std::int32_t peer = -1;
        ChunkRange kept;   ///< What this rank reduces on.
        ChunkRange given;  ///< What the peer does.
    };

    /// REQUIRES: the rank is not out; own is where its vector lies, sum (output or scratch, maybe
    /// the same) where results shall.
    Halving(
        ScheduleBuilder& builder, const Fold& fold, std::int32_t rank, BufferId own, BufferId sum
    );

    /// Adds the steps, those of the fold included: afterwards sum() of the last round's kept chunk
    /// holds its reduction.
    void reduce_scatter();

    [[nodiscard]] std::span<const Round> rounds() const { return rounds_; }
    [[nodiscard]] Slice sum(ChunkRange range) const { return slice(sum_, range); }

  private:
    [[nodiscard]] Slice slice(BufferId buffer, ChunkRange range) const;
    Slice landing(ChunkRange range);
    void combine(std::int32_t peer, const Slice& landing, ChunkRange range);

    ScheduleBuilder& builder_;
    std::int32_t rank_;
    BufferId value_;  ///< Where the operand of the next reduction lies.
    BufferId sum_;
    std::int32_t partner_ = -1;  ///< Whom this rank stands for as well.
    std::vector<Round> rounds_;
    std::uint32_t count_;
    std::uint32_t scratch_shift_ = 0;  ///< The chunk that place 0 of the scratch is for.
    std::uint32_t next_landing_ = 0;
};

}  // namespace dlrt::coll
