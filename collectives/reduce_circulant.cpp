// SPDX-License-Identifier: Apache-2.0
/// Pipelined reduction on a circulant graph: the broadcast of circulant_pipeline.hpp with time and
/// messages turned round. Who gets a block there passes its sum of it on here, when all that it
/// would have told have passed theirs.
///
/// Cost (k - 1 + L) (alpha + n/k (beta + gamma)) for k = 32 blocks; any p, any root. Best for long
/// vectors among many ranks. Operands meet in the order of rounds, so the operation must commute.
/// Source: Träff, "Optimal broadcast schedules in logarithmic time with applications to broadcast,
/// all-broadcast, reduction and all-reduction", 2024.
#include "collectives/algorithms.hpp"
#include "collectives/circulant.hpp"
#include "collectives/circulant_pipeline.hpp"

namespace dlrt::coll {
namespace {

constexpr std::uint32_t block_count = CirculantPipeline::block_count;
/// What arrives lands in one of so many places, and is added before the next one comes there.
constexpr std::uint32_t window = 4;

/// The rank's sums, which are its input until something was added.
class Sums {
  public:
    Sums(ScheduleBuilder& builder, const Shape& shape)
        : builder_(builder),
          is_root_(shape.rank == shape.root),
          own_(
              is_root_ && shape.placement == Placement::in_place ? BufferId::output
                                                                 : BufferId::input
          ),
          has_added_(block_count, false) {}

    [[nodiscard]] Slice of(std::uint32_t block) const {
        return has_added_[block] ? target(block) : Slice{{own_, block}, 1, block};
    }
    void take_from(std::int32_t peer, std::uint32_t block) {
        const Slice landing = scratch_slice(block_count + next_place_++ % window, block);
        builder_.recv(peer, landing);
        builder_.reduce(landing, of(block), target(block));
        has_added_[block] = true;
    }

  private:
    [[nodiscard]] Slice target(std::uint32_t block) const {
        return is_root_ ? output_slice(block) : scratch_slice(block, block);
    }

    ScheduleBuilder& builder_;
    bool is_root_;
    BufferId own_;
    std::vector<bool> has_added_;
    std::uint32_t next_place_ = 0;
};

}  // namespace

Schedule reduce_circulant(const Shape& shape) {
    ScheduleBuilder builder(
        {Collective::reduce, "circulant", ChunkRule::split, block_count, OperandOrder::any}, shape
    );
    if (shape.size == 1 && shape.placement == Placement::separate) {
        builder.copy(input_slice(0, block_count), output_slice(0, block_count));
    }
    Sums sums(builder, shape);
    CirculantPipeline pipeline(shape.size, shape.root);
    for (std::int32_t round = pipeline.round_count(); round-- > 0;) {
        const std::uint32_t distance = pipeline.distance_in(round);
        const std::int32_t above = rank_above(shape, distance);
        const std::int32_t taken = pipeline.received(above, round);
        if (taken >= 0) sums.take_from(above, static_cast<std::uint32_t>(taken));
        const std::int32_t given = pipeline.received(shape.rank, round);
        if (given < 0) continue;
        builder.send(rank_below(shape, distance), sums.of(static_cast<std::uint32_t>(given)));
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
