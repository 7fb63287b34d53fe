// SPDX-License-Identifier: Apache-2.0
/// A collective operation as data: what one rank sends, receives, copies and reduces, and in which
/// order.
///
/// A Schedule holds no pointer, no byte count and no tag. Its steps work on *chunks* of symbolic
/// buffers; bytes appear when it is bound (see ChunkSizes). So one schedule serves all sizes, can
/// be cached, printed, verified together with those of the other ranks, and run. Values; immutable
/// once built; any thread.
///
/// Order: a step may start when all its predecessors are complete, and only these edges order
/// steps; ScheduleBuilder derives them from what the steps read and write. Every edge leads to a
/// later step. Pairing: send number k of rank i to rank j in a lane meets receive number k of j
/// from i in that lane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace dlrt::coll {

class Groups;

enum class Collective : std::uint8_t {
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    reduce_scatter,  ///< Of blocks of one size.
    alltoall,
    scan,
    exscan,
    neighbor_allgather,  ///< On a graph or grid; see neighbour_exchange.hpp.
    neighbor_alltoall
};
/// Those that algorithms() has a choice for.
inline constexpr std::size_t collective_count = static_cast<std::size_t>(Collective::exscan) + 1;

[[nodiscard]] constexpr bool is_neighbour_exchange(Collective collective) {
    return collective >= Collective::neighbor_allgather;
}

/// Where a rank's input lies. in_place: allreduce, alltoall, scan, exscan, reduce's root: in the
/// output; gather's root, allgather: in its block of the output; scatter's root: its output stays
/// in the input; reduce_scatter: all blocks in the output, whose first one becomes the result and
/// whose others lose what they held. Other ranks and bcast have no choice.
enum class Placement : std::uint8_t { separate, in_place };

/// split: the operation's vector is cut into chunk_count chunks, all of one size but the last ones,
/// which may be short or empty. block: every chunk is one rank's block.
enum class ChunkRule : std::uint8_t { split, block };

/// Whether operands are combined in the order of ranks, so that a reduction needs not commute.
enum class OperandOrder : std::uint8_t { by_rank, any };

/// bcast has one buffer: the output, also at the root.
enum class BufferId : std::uint8_t { none, input, output, scratch };

enum class StepKind : std::uint8_t { send, recv, reduce, copy };

struct Place {
    BufferId buffer = BufferId::none;
    std::uint32_t chunk = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

/// Consecutive chunks. In scratch all places have the size of a full chunk, and `like` names the
/// chunk of the vector whose size the first one takes; elsewhere a chunk is like itself.
struct Slice {
    Place place;
    std::uint32_t length = 0;
    std::uint32_t like = 0;
};

struct Step {
    StepKind kind = StepKind::copy;
    std::uint16_t lane = 0;  ///< send and recv only, as is peer.
    std::int32_t peer = -1;
    std::uint32_t order = 0;   ///< Among the sends to that peer, or receives from it, in the lane.
    std::uint32_t length = 0;  ///< Chunks; 0 for a message that only signals.
    std::uint32_t like = 0;    ///< See Slice.
    Place source;              ///< Read by send, copy, reduce (its left operand).
    Place right;               ///< Read by reduce: target = source op right.
    Place target;              ///< Written by recv, copy, reduce.
};
static_assert(sizeof(Step) == 44);

/// What a builder is asked for.
struct Shape {
    std::int32_t size = 1;
    std::int32_t rank = 0;
    std::int32_t root = 0;  ///< 0 where the collective has none.
    Placement placement = Placement::separate;
    /// Which ranks are near each other, for hierarchical algorithms; null: all are. Outlives the
    /// schedules made for it.
    const Groups* groups = nullptr;
    friend bool operator==(const Shape&, const Shape&) = default;
};

struct Schedule {
    Collective collective = Collective::barrier;
    std::string_view algorithm;  ///< Static text.
    Shape shape;
    ChunkRule chunk_rule = ChunkRule::split;
    OperandOrder operand_order = OperandOrder::by_rank;
    std::uint32_t chunk_count = 1;
    std::uint32_t scratch_chunks = 0;
    /// The most sends, and the most receives, that this rank ever has under way at once, by its
    /// edges; 0 for no such promise.
    std::uint32_t window = 0;
    /// Of an exchange between neighbours, where each rank has its own number of blocks.
    std::uint32_t input_blocks = 0, output_blocks = 0;
    std::vector<Step> steps;

    /// Edges: the successors of step i are successors[successor_begin[i] .. successor_begin[i +
    /// 1]).
    std::vector<std::uint32_t> successor_begin;
    std::vector<std::uint32_t> successors;
    std::vector<std::uint32_t> predecessor_counts;

    [[nodiscard]] std::span<const std::uint32_t> successors_of(std::uint32_t step) const {
        return std::span(successors)
            .subspan(successor_begin[step], successor_begin[step + 1] - successor_begin[step]);
    }
};

struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    friend auto operator<=>(const Edge&, const Edge&) = default;
};

[[nodiscard]] std::vector<Edge> edges_of(const Schedule& schedule);
/// Replaces the edges; doubles are dropped. REQUIRES: each leads to a later step.
void set_edges(Schedule& schedule, std::vector<Edge> edges);

[[nodiscard]] std::string_view name_of(Collective collective);
[[nodiscard]] std::string_view name_of(BufferId buffer);
[[nodiscard]] std::string_view name_of(StepKind kind);

/// The bytes behind chunks, once the size of the data is known.
class ChunkSizes {
  public:
    ChunkSizes() = default;
    /// A vector of total_bytes, cut between units of unit_bytes.
    [[nodiscard]] static ChunkSizes split(
        std::uint64_t total_bytes, std::uint64_t unit_bytes, std::uint32_t chunk_count
    );
    [[nodiscard]] static ChunkSizes block(std::uint64_t block_bytes) {
        return {block_bytes, no_end};
    }

    /// Of a full chunk; place c begins at c times this.
    [[nodiscard]] std::uint64_t full_bytes() const { return full_bytes_; }
    [[nodiscard]] std::uint64_t offset_bytes(const Place& place) const {
        return place.chunk * full_bytes_;
    }
    [[nodiscard]] std::uint64_t size_bytes(std::uint32_t like, std::uint32_t length) const {
        return end_of(like + length) - end_of(like);
    }

  private:
    static constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
    ChunkSizes(std::uint64_t full_bytes, std::uint64_t total_bytes)
        : full_bytes_(full_bytes), total_bytes_(total_bytes) {}
    [[nodiscard]] std::uint64_t end_of(std::uint32_t chunk) const {
        return std::min(chunk * full_bytes_, total_bytes_);
    }

    std::uint64_t full_bytes_ = 0;
    std::uint64_t total_bytes_ = 0;
};

}  // namespace dlrt::coll
