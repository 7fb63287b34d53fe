// SPDX-License-Identifier: Apache-2.0
/// Every algorithm: one function per file that makes one rank's schedule, and the table of all of
/// them.
///
/// Pure functions of the shape; O(steps of the rank). Costs are in the usual terms: p ranks, L =
/// ceil(log2 p), n bytes of the vector (of blocks: of p of them), alpha seconds
/// per message, beta per byte, gamma per byte reduced. tests/collectives proves each for every p
/// and root.
#pragma once

#include "collectives/schedule.hpp"

#include <span>
#include <string_view>

namespace dlrt::coll {

[[nodiscard]] Schedule barrier_dissemination(const Shape& shape);
[[nodiscard]] Schedule barrier_tree(const Shape& shape);
[[nodiscard]] Schedule barrier_central(const Shape& shape);
[[nodiscard]] Schedule barrier_hierarchical(const Shape& shape);
[[nodiscard]] Schedule bcast_binomial(const Shape& shape);
[[nodiscard]] Schedule bcast_chain(const Shape& shape);
[[nodiscard]] Schedule bcast_circulant(const Shape& shape);
[[nodiscard]] Schedule bcast_knomial(const Shape& shape);
[[nodiscard]] Schedule bcast_scatter_allgather(const Shape& shape);
[[nodiscard]] Schedule bcast_hierarchical(const Shape& shape);
[[nodiscard]] Schedule bcast_hierarchical_pipelined(const Shape& shape);
[[nodiscard]] Schedule reduce_binomial(const Shape& shape);
[[nodiscard]] Schedule reduce_chain(const Shape& shape);
[[nodiscard]] Schedule reduce_circulant(const Shape& shape);
[[nodiscard]] Schedule reduce_knomial(const Shape& shape);
[[nodiscard]] Schedule reduce_rabenseifner(const Shape& shape);
[[nodiscard]] Schedule reduce_hierarchical(const Shape& shape);
[[nodiscard]] Schedule reduce_hierarchical_pipelined(const Shape& shape);
[[nodiscard]] Schedule allreduce_recursive_doubling(const Shape& shape);
[[nodiscard]] Schedule allreduce_ring(const Shape& shape);
[[nodiscard]] Schedule allreduce_rabenseifner(const Shape& shape);
[[nodiscard]] Schedule allreduce_tree(const Shape& shape);
[[nodiscard]] Schedule allreduce_centralised(const Shape& shape);
[[nodiscard]] Schedule allreduce_circulant(const Shape& shape);
[[nodiscard]] Schedule allreduce_two_tree(const Shape& shape);
[[nodiscard]] Schedule allreduce_hierarchical(const Shape& shape);
[[nodiscard]] Schedule allreduce_hierarchical_lanes(const Shape& shape);
[[nodiscard]] Schedule gather_binomial(const Shape& shape);
[[nodiscard]] Schedule gather_linear(const Shape& shape);
[[nodiscard]] Schedule gather_hierarchical(const Shape& shape);
[[nodiscard]] Schedule scatter_binomial(const Shape& shape);
[[nodiscard]] Schedule scatter_linear(const Shape& shape);
[[nodiscard]] Schedule scatter_hierarchical(const Shape& shape);
[[nodiscard]] Schedule allgather_ring(const Shape& shape);
[[nodiscard]] Schedule allgather_bruck(const Shape& shape);
[[nodiscard]] Schedule allgather_recursive_doubling(const Shape& shape);
[[nodiscard]] Schedule allgather_circulant(const Shape& shape);
[[nodiscard]] Schedule allgather_neighbour_exchange(const Shape& shape);
[[nodiscard]] Schedule allgather_linear(const Shape& shape);
[[nodiscard]] Schedule allgather_hierarchical(const Shape& shape);
[[nodiscard]] Schedule reduce_scatter_ring(const Shape& shape);
[[nodiscard]] Schedule reduce_scatter_recursive_halving(const Shape& shape);
[[nodiscard]] Schedule reduce_scatter_pairwise(const Shape& shape);
[[nodiscard]] Schedule reduce_scatter_bruck(const Shape& shape);
[[nodiscard]] Schedule reduce_scatter_circulant(const Shape& shape);
[[nodiscard]] Schedule reduce_scatter_hierarchical(const Shape& shape);
[[nodiscard]] Schedule alltoall_linear(const Shape& shape);
[[nodiscard]] Schedule alltoall_pairwise(const Shape& shape);
[[nodiscard]] Schedule alltoall_bruck(const Shape& shape);
[[nodiscard]] Schedule alltoall_hierarchical(const Shape& shape);
[[nodiscard]] Schedule alltoall_hierarchical_lanes(const Shape& shape);
[[nodiscard]] Schedule scan_linear(const Shape& shape);
[[nodiscard]] Schedule scan_recursive_doubling(const Shape& shape);
[[nodiscard]] Schedule scan_hierarchical(const Shape& shape);
[[nodiscard]] Schedule exscan_linear(const Shape& shape);
[[nodiscard]] Schedule exscan_recursive_doubling(const Shape& shape);
[[nodiscard]] Schedule exscan_hierarchical(const Shape& shape);

/// Of which groups of ranks (groups.hpp) an algorithm can be made.
enum class GroupsNeed : std::uint8_t {
    none,       ///< It doesn't ask.
    any,        ///< Several, not all of one rank.
    even,       ///< Of one size, too.
    neighbours  ///< Or of consecutive ranks.
};

struct Algorithm {
    Collective collective = Collective::barrier;
    std::string_view name;
    /// One with groups keeps the order of ranks only where groups are of consecutive ranks.
    OperandOrder operand_order = OperandOrder::by_rank;
    bool has_root = false;
    Schedule (*build)(const Shape&) = nullptr;
    GroupsNeed groups_need = GroupsNeed::none;
};

/// Whether it can be built for these groups, or for one of all (null).
[[nodiscard]] bool can_be_built(const Algorithm& algorithm, const Groups* groups);
/// Whether it may be chosen where ranks are in these groups, or in none that are known (null).
[[nodiscard]] bool is_applicable(const Algorithm& algorithm, const Groups* groups);
/// What it asks of groups, as a clause; empty for nothing.
[[nodiscard]] std::string_view groups_restriction(const Algorithm& algorithm);
/// Whether its reductions meet in the order of ranks there.
[[nodiscard]] OperandOrder operand_order(const Algorithm& algorithm, const Groups* groups);

[[nodiscard]] std::span<const Algorithm> algorithms();
/// Null when there is none of that name.
[[nodiscard]] const Algorithm* find_algorithm(Collective collective, std::string_view name);

}  // namespace dlrt::coll
