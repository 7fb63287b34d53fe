// SPDX-License-Identifier: Apache-2.0
/// Circulant reduce-scatter: all ranks do the same with turned numbers. A rank counts blocks from
/// its own on; in each round it passes the upper half of those that it still has to the rank half
/// as far above, where they are the lower half, and adds what it gets from below.
///
/// Cost L alpha + n (p-1)/p (beta + gamma), each rank one message each way per round, and a local
/// copy of up to n/2 where the first message would wrap around the end of the vector; any p. Best
/// for short vectors. Distant ranks are added first, so the operation must commute.
/// Source: Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2024.
///
///   p = 6, rank 0 sends:   blocks 3 4 5 to 3   then 2 to 2   then 1 to 1
#include "collectives/algorithms.hpp"
#include "collectives/circulant.hpp"

#include <span>

namespace dlrt::coll {
namespace {

// Block i here is block rank + i of the vector. Its sum lies at place i of scratch once there is
// one, and in the input before.
class Turned {
  public:
    Turned(ScheduleBuilder& builder, const Shape& shape)
        : builder_(builder),
          shape_(shape),
          input_(shape.placement == Placement::in_place ? BufferId::output : BufferId::input) {}

    /// Calls act(own slice, its distance from `first`) for the one or two pieces that the vector
    /// has of the range.
    template<typename Act>
    void for_pieces(std::uint32_t first, std::uint32_t length, const Act& act) const {
        std::uint32_t done = 0;
        visit_blocks(shape_, first, length, [&](std::uint32_t block, std::uint32_t piece_length) {
            act(Slice{{input_, block}, piece_length, block}, done);
            done += piece_length;
        });
    }

    /// The range of the input in one piece: itself, or copied to those places of scratch.
    [[nodiscard]] Slice packed(std::uint32_t first, std::uint32_t length, std::uint32_t place) {
        std::vector<Slice> pieces;
        for_pieces(first, length, [&](const Slice& piece, std::uint32_t) {
            pieces.push_back(piece);
        });
        if (pieces.size() == 1) return pieces.front();
        for_pieces(first, length, [&](const Slice& piece, std::uint32_t done) {
            builder_.copy(piece, scratch_slice(place + done, 0, piece.length));
        });
        return scratch_slice(place, 0, length);
    }

  private:
    ScheduleBuilder& builder_;
    Shape shape_;
    BufferId input_;
};

}  // namespace

Schedule reduce_scatter_circulant(const Shape& shape) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder(
        {Collective::reduce_scatter, "circulant", ChunkRule::block, size, OperandOrder::any}, shape
    );
    if (size == 1) {
        if (shape.placement == Placement::separate) builder.copy(input_slice(0), output_slice(0));
        return std::move(builder).finish();
    }
    Turned turned(builder, shape);
    const std::vector<CirculantRound> rounds = circulant_rounds(shape.size);
    auto exchange = [&](const CirculantRound& round, const Slice& sent, const Slice& landing) {
        builder.recv(rank_below(shape, round.distance), landing);
        builder.send(rank_above(shape, round.distance), sent);
    };
    auto sum = [](const CirculantRound& round, std::uint32_t first, std::uint32_t length) {
        return round.distance == 1 ? output_slice(0) : scratch_slice(first, 0, length);
    };

    const CirculantRound& farthest = rounds.front();
    exchange(
        farthest, turned.packed(farthest.distance, farthest.length, farthest.distance),
        scratch_slice(0, 0, farthest.length)
    );
    turned.for_pieces(0, farthest.length, [&](const Slice& piece, std::uint32_t first) {
        builder.reduce(
            scratch_slice(first, 0, piece.length), piece, sum(farthest, first, piece.length)
        );
    });
    if (farthest.distance > farthest.length) {
        turned.for_pieces(farthest.length, 1, [&](const Slice& block, std::uint32_t) {
            builder.copy(block, scratch_slice(farthest.length));
        });
    }
    std::uint32_t next_free = size;
    for (const CirculantRound& round : std::span(rounds).subspan(1)) {
        const Slice landing = scratch_slice(next_free, 0, round.length);
        next_free += round.length;
        exchange(round, scratch_slice(round.distance, 0, round.length), landing);
        builder.reduce(landing, scratch_slice(0, 0, round.length), sum(round, 0, round.length));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
