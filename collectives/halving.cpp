// SPDX-License-Identifier: Apache-2.0
/// Sums lie in the scratch or the output; operands land in the sum's place while that is free, and
/// in further scratch afterwards.
#include "collectives/halving.hpp"

namespace dlrt::coll {

Halving::Halving(
    ScheduleBuilder& builder, const Fold& fold, std::int32_t rank, BufferId own, BufferId sum
)
    : builder_(builder),
      rank_(rank),
      value_(own),
      sum_(sum),
      count_(static_cast<std::uint32_t>(fold.count())) {
    if (fold.is_paired(rank)) partner_ = Fold::partner_of(rank);
    const std::int32_t number = fold.number_of(rank);
    ChunkRange range{0, count_};
    for (std::int32_t bit = 1; bit < fold.count(); bit *= 2) {
        const std::uint32_t half = range.length / 2;
        const ChunkRange lower{range.first, half};
        const ChunkRange upper{range.first + half, half};
        const bool is_upper = (number & bit) != 0;
        range = is_upper ? upper : lower;
        rounds_.push_back({bit, fold.rank_of(number ^ bit), range, is_upper ? lower : upper});
    }
    const bool sums_half = partner_ < 0 && !rounds_.empty();
    if (sums_half) scratch_shift_ = rounds_[0].kept.first;
    if (sum_ == BufferId::scratch) next_landing_ = sums_half ? count_ / 2 : count_;
}

Slice Halving::slice(BufferId buffer, ChunkRange range) const {
    const std::uint32_t shift = buffer == BufferId::scratch ? scratch_shift_ : 0;
    return {{buffer, range.first - shift}, range.length, range.first};
}

Slice Halving::landing(ChunkRange range) {
    if (value_ != sum_) return slice(sum_, range);
    const Slice landing = scratch_slice(next_landing_, range.first, range.length);
    next_landing_ += range.length;
    return landing;
}

void Halving::combine(std::int32_t peer, const Slice& landing, ChunkRange range) {
    if (peer < rank_) {
        builder_.reduce(landing, slice(value_, range), slice(sum_, range));
    } else {
        builder_.reduce(slice(value_, range), landing, slice(sum_, range));
    }
}

void Halving::reduce_scatter() {
    const ChunkRange all{0, count_};
    if (partner_ >= 0) {
        const std::uint32_t first_landing = next_landing_;
        const Slice landed = landing(all);
        builder_.recv(partner_, landed);
        combine(partner_, landed, all);
        value_ = sum_;
        next_landing_ = first_landing;
    } else if (rounds_.empty() && value_ != sum_) {
        builder_.copy(slice(value_, all), slice(sum_, all));
    }
    for (const Round& round : rounds_) {
        const Slice landed = landing(round.kept);
        builder_.recv(round.peer, landed);
        builder_.send(round.peer, slice(value_, round.given));
        combine(round.peer, landed, round.kept);
        value_ = sum_;
    }
}

}  // namespace dlrt::coll
