// SPDX-License-Identifier: Apache-2.0
/// Hierarchical all-reduce over lanes: each group of s ranks reduce-scatters, so that each has the
/// sum of a part; ranks of one number in their groups all-reduce that part; each group all-gathers.
///
/// 2 (s - 1) alpha + 2 n (s-1)/s beta within; between G groups each rank sends 2 n/s (G-1)/G, all
/// links of a host at work, where leaders alone would send s times as much. Groups of one size;
/// where they are not of neighbours, the operation must commute. Best for long vectors. Source:
/// Träff, Hunold, "Decomposing MPI collectives for exploiting multi-lane communication", 2020; the
/// parts are reduce_scatter_pairwise.cpp, allreduce_rabenseifner.cpp and allgather_ring.cpp.
///
///   2 groups of 2:   0<>1 2<>3   0<>2 1<>3   0<>1 2<>3, each half a vector
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::allreduce,
    "hierarchical_lanes",
    {Collective::reduce_scatter, "pairwise"},
    {Collective::allreduce, "rabenseifner"},
    {Collective::allgather, "ring"},
};

}  // namespace

Schedule allreduce_hierarchical_lanes(const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    const std::uint32_t part_length = chunk_count_of(hierarchy.between_lanes());
    const std::uint32_t part_count = hierarchy.group_size();
    const std::uint32_t chunk_count = part_count * part_length;
    Composition composition(hierarchy.header(ChunkRule::split, chunk_count), hierarchy.shape());
    const std::vector<std::uint32_t> parts(part_count, part_length);
    const auto first = static_cast<std::uint32_t>(hierarchy.up().self) * part_length;
    // What is in the output is needed until all others have it.
    Slice part{{hierarchy.own(), first}, part_length, first};
    if (hierarchy.has_inside()) {
        Phase phase = hierarchy.up();
        phase.lengths = parts;
        phase.input = window(hierarchy.own(), 0, parts);
        part = output_slice(first, part_length);
        if (hierarchy.is_in_place())
            part = scratch_slice(composition.take_scratch(part_length), first, part_length);
        phase.output = {part.place.buffer, {part.place.chunk}};
        composition.add(phase);
    }
    if (hierarchy.group_count() > 1) {
        Phase phase = hierarchy.between_lanes();
        const bool is_in_place = part.place.buffer == BufferId::output;
        phase.placement = is_in_place ? Placement::in_place : Placement::separate;
        phase.lengths.assign(part_length, 1);
        phase.first_like = first;
        phase.input = window(part.place.buffer, part.place.chunk, phase.lengths);
        phase.output = window(BufferId::output, first, phase.lengths);
        composition.add(phase);
    } else if (part.place.buffer != BufferId::output) {
        composition.builder().copy(part, output_slice(first, part_length));
    }
    if (hierarchy.has_inside()) {
        Phase phase = hierarchy.down();
        phase.placement = Placement::in_place;
        phase.lengths = parts;
        phase.output = window(BufferId::output, 0, parts);
        composition.add(phase);
    }
    return hierarchy.finish(std::move(composition));
}

}  // namespace dlrt::coll
