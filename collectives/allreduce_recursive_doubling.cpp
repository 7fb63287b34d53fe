// SPDX-License-Identifier: Apache-2.0
/// Recursive doubling: in round k each rank exchanges its partial result with the one whose number
/// differs in bit k. When p is no power of two, the first ranks fold in pairs before and unfold
/// after.
///
/// Cost L (alpha + n beta + n gamma), and 2 alpha + 2 n beta + n gamma for the fold; any p. Best
/// for short vectors. Both sides of an exchange compute lower op upper: the same bits everywhere,
/// operands in the order of ranks. Source: Thakur, Rabenseifner, Gropp, "Optimization of collective
/// communication operations in MPICH", 2005.
///
///   p = 6:   fold 0>1 2>3   then 1<>3 4<>5   then 1<>4 3<>5   unfold 1>0 3>2
#include "collectives/algorithms.hpp"
#include "collectives/fold.hpp"
#include "collectives/schedule_builder.hpp"

namespace dlrt::coll {
namespace {

class Exchange {
  public:
    Exchange(ScheduleBuilder& builder, Placement placement)
        : builder_(builder),
          value_(placement == Placement::in_place ? output_slice(0) : input_slice(0)) {}

    [[nodiscard]] const Slice& value() const { return value_; }

    enum class Peer : std::uint8_t { below, above };
    enum class Direction : std::uint8_t { receive, both };
    void combine(std::int32_t peer, Peer side, Direction direction) {
        const bool is_output_free = value_.place.buffer == BufferId::input;
        const Slice landing = is_output_free ? output_slice(0) : scratch_slice(rounds_++ % 2);
        builder_.recv(peer, landing);
        if (direction == Direction::both) builder_.send(peer, value_);
        if (side == Peer::below) {
            builder_.reduce(landing, value_, output_slice(0));
        } else {
            builder_.reduce(value_, landing, output_slice(0));
        }
        value_ = output_slice(0);
    }

  private:
    ScheduleBuilder& builder_;
    Slice value_;
    std::uint32_t rounds_ = 0;
};

}  // namespace

Schedule allreduce_recursive_doubling(const Shape& shape) {
    ScheduleBuilder builder(
        {Collective::allreduce, "recursive_doubling", ChunkRule::split, 1}, shape
    );
    Exchange exchange(builder, shape.placement);
    const std::int32_t rank = shape.rank;
    const Fold fold = Fold::to_power_of_two(shape.size);
    if (shape.size == 1 && shape.placement == Placement::separate) {
        builder.copy(input_slice(0), output_slice(0));
    }
    if (fold.is_out(rank)) {
        builder.send(Fold::partner_of(rank), exchange.value());
        builder.recv(Fold::partner_of(rank), output_slice(0));
        return std::move(builder).finish();
    }
    const bool is_paired = fold.is_paired(rank);
    if (is_paired) exchange.combine(rank - 1, Exchange::Peer::below, Exchange::Direction::receive);
    const std::int32_t number = fold.number_of(rank);
    for (std::int32_t bit = 1; bit < fold.count(); bit *= 2) {
        const std::int32_t peer = fold.rank_of(number ^ bit);
        const auto side = peer < rank ? Exchange::Peer::below : Exchange::Peer::above;
        exchange.combine(peer, side, Exchange::Direction::both);
    }
    if (is_paired) builder.send(rank - 1, output_slice(0));
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
