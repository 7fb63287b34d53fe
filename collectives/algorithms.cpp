// SPDX-License-Identifier: Apache-2.0
/// The one visible list of algorithms.
#include "collectives/algorithms.hpp"

#include "collectives/contract.hpp"
#include "collectives/groups.hpp"

namespace dlrt::coll {
namespace {

constexpr OperandOrder by_rank = OperandOrder::by_rank;
constexpr OperandOrder any = OperandOrder::any;

constexpr Algorithm table[] = {
    {Collective::barrier, "dissemination", by_rank, false, barrier_dissemination},
    {Collective::barrier, "tree", by_rank, false, barrier_tree},
    {Collective::barrier, "central", by_rank, false, barrier_central},
    {Collective::barrier, "hierarchical", by_rank, false, barrier_hierarchical, GroupsNeed::any},
    {Collective::bcast, "binomial", by_rank, true, bcast_binomial},
    {Collective::bcast, "chain", by_rank, true, bcast_chain},
    {Collective::bcast, "circulant", by_rank, true, bcast_circulant},
    {Collective::bcast, "knomial", by_rank, true, bcast_knomial},
    {Collective::bcast, "scatter_allgather", by_rank, true, bcast_scatter_allgather},
    {Collective::bcast, "hierarchical", by_rank, true, bcast_hierarchical, GroupsNeed::any},
    {Collective::bcast, "hierarchical_pipelined", by_rank, true, bcast_hierarchical_pipelined,
     GroupsNeed::any},
    {Collective::reduce, "binomial", by_rank, true, reduce_binomial},
    {Collective::reduce, "chain", by_rank, true, reduce_chain},
    {Collective::reduce, "circulant", any, true, reduce_circulant},
    {Collective::reduce, "knomial", by_rank, true, reduce_knomial},
    {Collective::reduce, "rabenseifner", by_rank, true, reduce_rabenseifner},
    {Collective::reduce, "hierarchical", by_rank, true, reduce_hierarchical, GroupsNeed::any},
    {Collective::reduce, "hierarchical_pipelined", by_rank, true, reduce_hierarchical_pipelined,
     GroupsNeed::any},
    {Collective::allreduce, "recursive_doubling", by_rank, false, allreduce_recursive_doubling},
    {Collective::allreduce, "ring", any, false, allreduce_ring},
    {Collective::allreduce, "rabenseifner", by_rank, false, allreduce_rabenseifner},
    {Collective::allreduce, "tree", by_rank, false, allreduce_tree},
    {Collective::allreduce, "centralised", by_rank, false, allreduce_centralised},
    {Collective::allreduce, "circulant", any, false, allreduce_circulant},
    {Collective::allreduce, "two_tree", by_rank, false, allreduce_two_tree},
    {Collective::allreduce, "hierarchical", by_rank, false, allreduce_hierarchical,
     GroupsNeed::any},
    {Collective::allreduce, "hierarchical_lanes", by_rank, false, allreduce_hierarchical_lanes,
     GroupsNeed::even},
    {Collective::gather, "binomial", by_rank, true, gather_binomial},
    {Collective::gather, "linear", by_rank, true, gather_linear},
    {Collective::gather, "hierarchical", by_rank, true, gather_hierarchical, GroupsNeed::any},
    {Collective::scatter, "binomial", by_rank, true, scatter_binomial},
    {Collective::scatter, "linear", by_rank, true, scatter_linear},
    {Collective::scatter, "hierarchical", by_rank, true, scatter_hierarchical, GroupsNeed::any},
    {Collective::allgather, "ring", by_rank, false, allgather_ring},
    {Collective::allgather, "bruck", by_rank, false, allgather_bruck},
    {Collective::allgather, "recursive_doubling", by_rank, false, allgather_recursive_doubling},
    {Collective::allgather, "circulant", by_rank, false, allgather_circulant},
    {Collective::allgather, "neighbour_exchange", by_rank, false, allgather_neighbour_exchange},
    {Collective::allgather, "linear", by_rank, false, allgather_linear},
    {Collective::allgather, "hierarchical", by_rank, false, allgather_hierarchical,
     GroupsNeed::any},
    {Collective::reduce_scatter, "ring", any, false, reduce_scatter_ring},
    {Collective::reduce_scatter, "recursive_halving", any, false, reduce_scatter_recursive_halving},
    {Collective::reduce_scatter, "pairwise", by_rank, false, reduce_scatter_pairwise},
    {Collective::reduce_scatter, "bruck", any, false, reduce_scatter_bruck},
    {Collective::reduce_scatter, "circulant", any, false, reduce_scatter_circulant},
    {Collective::reduce_scatter, "hierarchical", by_rank, false, reduce_scatter_hierarchical,
     GroupsNeed::any},
    {Collective::alltoall, "linear", by_rank, false, alltoall_linear},
    {Collective::alltoall, "pairwise", by_rank, false, alltoall_pairwise},
    {Collective::alltoall, "bruck", by_rank, false, alltoall_bruck},
    {Collective::alltoall, "hierarchical", by_rank, false, alltoall_hierarchical, GroupsNeed::any},
    {Collective::alltoall, "hierarchical_lanes", by_rank, false, alltoall_hierarchical_lanes,
     GroupsNeed::even},
    {Collective::scan, "linear", by_rank, false, scan_linear},
    {Collective::scan, "recursive_doubling", by_rank, false, scan_recursive_doubling},
    {Collective::scan, "hierarchical", by_rank, false, scan_hierarchical, GroupsNeed::neighbours},
    {Collective::exscan, "linear", by_rank, false, exscan_linear},
    {Collective::exscan, "recursive_doubling", by_rank, false, exscan_recursive_doubling},
    {Collective::exscan, "hierarchical", by_rank, false, exscan_hierarchical,
     GroupsNeed::neighbours},
};

}  // namespace

std::span<const Algorithm> algorithms() {
    return table;
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
    for (const Algorithm& algorithm : table) {
        if (algorithm.collective == collective && algorithm.name == name) return &algorithm;
    }
    return nullptr;
}

bool can_be_built(const Algorithm& algorithm, const Groups* groups) {
    if (groups == nullptr) return true;
    if (algorithm.groups_need == GroupsNeed::even) return groups->is_even();
    return algorithm.groups_need != GroupsNeed::neighbours || groups->is_consecutive();
}

bool is_applicable(const Algorithm& algorithm, const Groups* groups) {
    if (algorithm.groups_need == GroupsNeed::none) return true;
    return groups != nullptr && groups->is_layered() && can_be_built(algorithm, groups);
}

std::string_view groups_restriction(const Algorithm& algorithm) {
    switch (algorithm.groups_need) {
        case GroupsNeed::none:
            return "";
        case GroupsNeed::any:
            return "needs several groups, one of several ranks";
        case GroupsNeed::even:
            return "needs several groups, all of one size of several ranks";
        case GroupsNeed::neighbours:
            return "needs several groups of consecutive ranks, one of several";
    }
    return "";
}

OperandOrder operand_order(const Algorithm& algorithm, const Groups* groups) {
    const bool is_mixed = algorithm.groups_need != GroupsNeed::none && groups != nullptr &&
                          !groups->is_consecutive() && has_reduction(algorithm.collective);
    return is_mixed ? OperandOrder::any : algorithm.operand_order;
}

}  // namespace dlrt::coll
