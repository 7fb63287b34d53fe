// SPDX-License-Identifier: Apache-2.0
/// Recursive halving: the ranks of an interval give the other half of it their sums of that half's
/// blocks, each to one rank there, and so on in the half that they are in. In an interval of odd
/// length the last rank of the lower half has no partner: it gives to the last rank of all, which
/// gets two messages.
///
/// Cost L alpha + n (p-1)/p (beta + gamma) where p is a power of two; for any p each rank sends n
/// (p-1)/p in at most L messages, and some receive up to twice that. Best for vectors of medium
/// length. Distant ranks are added first, so the operation must commute.
/// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", 2005; the rule for odd intervals is ours, and needs no folding.
///
///   p = 5:   0<>3 1<>4 2>4 ([0..2] [3 4])   then 0<>2 1>2 3<>4   then 0<>1
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"
#include "collectives/tree.hpp"

namespace dlrt::coll {
namespace {

class HalvedSums {
  public:
    HalvedSums(ScheduleBuilder& builder, Placement placement)
        : builder_(builder), is_in_place_(placement == Placement::in_place) {}

    /// Where this rank's sums of the blocks lie: in its input until it adds, from then on where the
    /// first message landed.
    [[nodiscard]] Slice held(const Interval& blocks) const {
        const auto length = static_cast<std::uint32_t>(blocks.size());
        if (is_summed_) {
            const auto place = static_cast<std::uint32_t>(blocks.first - first_block_);
            return scratch_slice(place, 0, length);
        }
        const auto first = static_cast<std::uint32_t>(blocks.first);
        return is_in_place_ ? output_slice(first, length) : input_slice(first, length);
    }

    [[nodiscard]] Slice receive(std::int32_t peer, const Interval& blocks) {
        const auto length = static_cast<std::uint32_t>(blocks.size());
        const Slice landing = scratch_slice(next_free_, 0, length);
        next_free_ += length;
        builder_.recv(peer, landing);
        return landing;
    }

    enum class Turn : std::uint8_t { last, more_to_come };
    void add(const Slice& landing, const Interval& blocks, Turn turn) {
        const Slice sum = is_summed_ ? held(blocks) : landing;
        builder_.reduce(landing, held(blocks), turn == Turn::last ? output_slice(0) : sum);
        if (!is_summed_) first_block_ = blocks.first;
        is_summed_ = true;
    }

  private:
    ScheduleBuilder& builder_;
    bool is_in_place_;
    bool is_summed_ = false;
    std::int32_t first_block_ = 0;
    std::uint32_t next_free_ = 0;
};

}  // namespace

Schedule reduce_scatter_recursive_halving(const Shape& shape) {
    const auto block_count = static_cast<std::uint32_t>(shape.size);
    ScheduleBuilder builder(
        {Collective::reduce_scatter, "recursive_halving", ChunkRule::block, block_count,
         OperandOrder::any},
        shape
    );
    if (shape.size == 1 && shape.placement == Placement::separate) {
        builder.copy(input_slice(0), output_slice(0));
    }
    HalvedSums sums(builder, shape.placement);
    Interval range{0, shape.size};
    while (range.size() > 1) {
        const std::int32_t middle = range.first + (range.size() + 1) / 2;
        const Interval lower{range.first, middle};
        const Interval upper{middle, range.end};
        const bool is_lower = lower.contains(shape.rank);
        const Interval kept = is_lower ? lower : upper;
        const std::int32_t partner = is_lower ? std::min(shape.rank + lower.size(), range.end - 1)
                                              : shape.rank - lower.size();
        const bool is_alone = is_lower && partner - lower.size() != shape.rank;
        const bool has_two = lower.size() > upper.size() && shape.rank == range.end - 1;

        const Slice first = is_alone ? no_data() : sums.receive(partner, kept);
        const Slice second = has_two ? sums.receive(middle - 1, kept) : no_data();
        builder.send(partner, sums.held(is_lower ? upper : lower));
        const auto last = kept.size() == 1 ? HalvedSums::Turn::last
                                           : HalvedSums::Turn::more_to_come;
        if (!is_alone) sums.add(first, kept, has_two ? HalvedSums::Turn::more_to_come : last);
        if (has_two) sums.add(second, kept, last);
        range = kept;
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
