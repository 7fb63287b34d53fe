// SPDX-License-Identifier: Apache-2.0
#include "collectives/two_groups.hpp"

#include "collectives/contract.hpp"
#include "collectives/schedule_builder.hpp"
#include "runtime/base/check.hpp"

#include <algorithm>
#include <utility>

namespace dlrt::coll {
namespace {

/// Who sends in a collective with a root, or whether all do.
enum class Flow : std::uint8_t { all_to_all, from_root, to_root };

Flow flow_of(Collective collective) {
    if (!has_root(collective)) return Flow::all_to_all;
    const bool is_from_root = collective == Collective::bcast || collective == Collective::scatter;
    return is_from_root ? Flow::from_root : Flow::to_root;
}

std::vector<Link> all_others(const TwoGroups& groups) {
    std::vector<Link> links;
    for (std::int32_t i = 0; i < groups.other_count(); ++i)
        links.push_back({groups.others_begin() + i, 0});
    return links;
}

Schedule reduction_between(Collective collective, const TwoGroups& groups) {
    const Neighbours partners = partners_between(collective, groups);
    // Of a rank without part the schedule is empty: any root will do.
    const std::int32_t root = std::max(groups.root, 0);
    const bool is_rooted = has_root(collective);
    ScheduleBuilder builder(
        {collective, "direct", ChunkRule::block, 1},
        {groups.size(), groups.rank, is_rooted ? root : 0}
    );
    for (const Link& target : partners.targets) builder.send(target.rank, input_slice(0));
    for (std::uint32_t i = 0; i < partners.sources.size(); ++i) {
        const std::int32_t source = partners.sources[i].rank;
        if (i == 0) {
            builder.recv(source, output_slice(0));
            continue;
        }
        // Two places: one is received into while the other is read.
        const Slice operand = scratch_slice(i % 2);
        builder.recv(source, operand);
        builder.reduce(output_slice(0), operand, output_slice(0));
    }
    return std::move(builder).finish();
}

}  // namespace

Neighbours partners_between(Collective collective, const TwoGroups& groups) {
    DLRT_ASSERT(is_for_two_groups(collective));
    const Flow flow = flow_of(collective);
    if (flow == Flow::all_to_all) return {all_others(groups), all_others(groups)};
    if (groups.root == no_part) return {};
    const bool is_root = groups.rank == groups.root;
    std::vector<Link> links = is_root ? all_others(groups) : std::vector<Link>{{groups.root, 0}};
    if (is_root == (flow == Flow::from_root)) return {{}, std::move(links)};
    return {std::move(links), {}};
}

Schedule exchange_between(Collective collective, const TwoGroups& groups) {
    if (has_reduction(collective)) return reduction_between(collective, groups);
    const bool is_same_for_all = collective == Collective::bcast ||
                                 collective == Collective::allgather ||
                                 collective == Collective::barrier;
    return neighbour_exchange(
        is_same_for_all ? Collective::neighbor_allgather : Collective::neighbor_alltoall,
        {groups.size(), groups.rank}, partners_between(collective, groups)
    );
}

}  // namespace dlrt::coll
