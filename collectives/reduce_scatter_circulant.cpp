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
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {
namespace {

// Block i here is block rank + i of the vector. Its sum lies at place i of scratch once there is
// one, and in the input before.
class Turned {
  public:
    Turned(ScheduleBuilder& builder, const Shape& shape)
        : builder_(builder),
          size_(static_cast<std::uint32_t>(shape.size)),
          rank_(static_cast<std::uint32_t>(shape.rank)),
          is_in_place_(shape.placement == Placement::in_place) {}

    [[nodiscard]] Slice own(std::uint32_t first, std::uint32_t length) const {
        const std::uint32_t block = (rank_ + first) % size_;
        return is_in_place_ ? output_slice(block, length) : input_slice(block, length);
    }

    /// Calls act(first, length) for the one or two parts of the range that the vector has in one
    /// piece.
    template<typename Act>
    void for_pieces(std::uint32_t first, std::uint32_t length, const Act& act) const {
        const std::uint32_t before_end = std::min(length, size_ - (rank_ + first) % size_);
        act(first, before_end);
        if (before_end < length) act(first + before_end, length - before_end);
    }

    /// The range of the input in one piece: itself, or copied to those places of scratch.
    [[nodiscard]] Slice packed(std::uint32_t first, std::uint32_t length, std::uint32_t place) {
        if ((rank_ + first) % size_ + length <= size_) return own(first, length);
        for_pieces(first, length, [&](std::uint32_t piece, std::uint32_t piece_length) {
            builder_.copy(
                own(piece, piece_length), scratch_slice(place + piece - first, 0, piece_length)
            );
        });
        return scratch_slice(place, 0, length);
    }

  private:
    ScheduleBuilder& builder_;
    std::uint32_t size_, rank_;
    bool is_in_place_;
};

}  // namespace

Schedule reduce_scatter_circulant(const Shape& shape) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    const auto rank = static_cast<std::uint32_t>(shape.rank);
    ScheduleBuilder builder(
        {Collective::reduce_scatter, "circulant", ChunkRule::block, size, OperandOrder::any}, shape
    );
    if (size == 1) {
        if (shape.placement == Placement::separate) builder.copy(input_slice(0), output_slice(0));
        return std::move(builder).finish();
    }
    Turned turned(builder, shape);
    auto exchange = [&](std::uint32_t distance, const Slice& sent, const Slice& landing) {
        builder.recv(static_cast<std::int32_t>((rank + size - distance) % size), landing);
        builder.send(static_cast<std::int32_t>((rank + distance) % size), sent);
    };

    std::uint32_t kept = (size + 1) / 2;
    std::uint32_t length = size - kept;
    std::uint32_t next_free = size;
    exchange(kept, turned.packed(kept, length, kept), scratch_slice(0, 0, length));
    turned.for_pieces(0, length, [&](std::uint32_t first, std::uint32_t piece_length) {
        builder.reduce(
            scratch_slice(first, 0, piece_length), turned.own(first, piece_length),
            kept == 1 ? output_slice(0) : scratch_slice(first, 0, piece_length)
        );
    });
    if (kept > length) builder.copy(turned.own(length, 1), scratch_slice(length));
    while (kept > 1) {
        const std::uint32_t distance = (kept + 1) / 2;
        length = kept - distance;
        kept = distance;
        const Slice landing = scratch_slice(next_free, 0, length);
        next_free += length;
        exchange(distance, scratch_slice(distance, 0, length), landing);
        const Slice target = kept == 1 ? output_slice(0) : scratch_slice(0, 0, length);
        builder.reduce(landing, scratch_slice(0, 0, length), target);
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
