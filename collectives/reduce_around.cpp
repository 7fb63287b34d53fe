// SPDX-License-Identifier: Apache-2.0
#include "collectives/reduce_around.hpp"

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

void reduce_around(
    ScheduleBuilder& builder, const Shape& shape, std::span<const CirculantRound> rounds
) {
    Turned turned(builder, shape);
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
    // Those that neither went away nor got anything.
    const std::uint32_t left_alone = farthest.distance - farthest.length;
    turned.for_pieces(farthest.length, left_alone, [&](const Slice& piece, std::uint32_t done) {
        builder.copy(piece, scratch_slice(farthest.length + done, 0, piece.length));
    });
    auto next_free = static_cast<std::uint32_t>(shape.size);
    for (const CirculantRound& round : rounds.subspan(1)) {
        const Slice landing = scratch_slice(next_free, 0, round.length);
        next_free += round.length;
        exchange(round, scratch_slice(round.distance, 0, round.length), landing);
        builder.reduce(landing, scratch_slice(0, 0, round.length), sum(round, 0, round.length));
    }
}

}  // namespace dlrt::coll
