// SPDX-License-Identifier: Apache-2.0
/// Hierarchical all-to-all over lanes: in each group every rank collects the blocks for all ranks
/// that have its number in their groups, and hands them over, a group's together.
///
/// For G groups of s ranks: (s - 1) alpha + n (s-1)/s beta within, (G - 1) alpha + n (G-1)/G beta
/// between, and 2 n copied: messages between groups are s times as long and as few as in the linear
/// one. Groups of one size. Best for short and middling blocks where hosts are far from each other.
/// Source: Träff, Hunold, "Decomposing MPI collectives for exploiting multi-lane communication",
/// 2020; the part is alltoall_linear.cpp.
///
///   2 groups of 2:   0<>1 [0>1 0>3] [1>0 1>2] 2<>3   0<>2 [0>2 1>2] [2>0 3>0] 1<>3
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::alltoall,
    "hierarchical_lanes",
    {Collective::alltoall, "linear"},
    {Collective::alltoall, "linear"},
    {},
};

class Exchange {
  public:
    explicit Exchange(const Shape& shape)
        : hierarchy_(recipe, shape),
          composition_(hierarchy_.header(ChunkRule::block, hierarchy_.size()), hierarchy_.shape()),
          lane_count_(hierarchy_.group_size()),
          group_count_(static_cast<std::uint32_t>(hierarchy_.group_count())) {}

    Schedule run() && {
        if (!hierarchy_.groups().is_layered()) {
            const bool is_one = hierarchy_.group_count() == 1;
            Phase phase = hierarchy_.among_all(is_one ? recipe.up : recipe.between);
            phase.lengths.assign(hierarchy_.size(), 1);
            phase.input = window(hierarchy_.own(), 0, phase.lengths);
            phase.output = window(BufferId::output, 0, phase.lengths);
            composition_.add(phase);
            return hierarchy_.finish(std::move(composition_));
        }
        // By lane and group of the target, then by lane and group of both, then by rank.
        const Place by_lane = turned({hierarchy_.own(), 0}, group_count_, lane_count_);
        const Place collected = scratch();
        exchange(hierarchy_.up(), group_count_, by_lane, collected);
        const Place by_group = turned(collected, lane_count_, group_count_);
        exchange(hierarchy_.between_lanes(), lane_count_, by_group, {BufferId::output, 0});
        return hierarchy_.finish(std::move(composition_));
    }

  private:
    Place scratch() { return {BufferId::scratch, composition_.take_scratch(hierarchy_.size())}; }

    /// Rows become columns.
    Place turned(const Place& from, std::uint32_t rows, std::uint32_t columns) {
        const Place to = scratch();
        for (std::uint32_t row = 0; row < rows; ++row) {
            for (std::uint32_t column = 0; column < columns; ++column) {
                const Place source{from.buffer, from.chunk + row * columns + column};
                const Place target{to.buffer, to.chunk + column * rows + row};
                composition_.builder().copy({source, 1, 0}, {target, 1, 0});
            }
        }
        return to;
    }

    void exchange(Phase phase, std::uint32_t length, const Place& from, const Place& to) {
        phase.lengths.assign(phase.members.size(), length);
        phase.input = window(from.buffer, from.chunk, phase.lengths);
        phase.output = window(to.buffer, to.chunk, phase.lengths);
        composition_.add(phase);
    }

    Hierarchy hierarchy_;
    Composition composition_;
    std::uint32_t lane_count_;
    std::uint32_t group_count_;
};

}  // namespace

Schedule alltoall_hierarchical_lanes(const Shape& shape) {
    return Exchange(shape).run();
}

}  // namespace dlrt::coll
