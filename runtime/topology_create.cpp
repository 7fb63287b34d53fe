// SPDX-License-Identifier: Apache-2.0
#include "runtime/topology_create.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/collective.hpp"

#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace dlrt {
namespace {

/// How often two ranks name each other.
struct EdgeCounts {
    std::int32_t to = 0;
    std::int32_t from = 0;
};

/// An edge that its ends count otherwise; from -1: none.
struct Disagreement {
    std::int32_t from = -1;
    std::int32_t to = -1;
    std::int32_t sent_count = 0;
    std::int32_t received_count = 0;
};

/// Each rank's one value for each other, or for all of them.
template<typename T>
Status exchange(
    Communicator& comm, coll::Collective collective, const T* values, std::vector<T>& heard
) {
    const LayoutRef& layout = Layout::of(ElementType::byte);
    CollectiveCall call;
    call.collective = collective;
    call.input = {values, sizeof(T), &layout};
    call.output = {heard.data(), sizeof(T), &layout};
    return run_collective(comm, call);
}

Disagreement find_disagreement(
    std::int32_t self, std::span<const EdgeCounts> own, std::span<const EdgeCounts> others
) {
    std::optional<Disagreement> first;
    const auto consider = [&](const Disagreement& edge) {
        if (edge.sent_count == edge.received_count) return;
        const bool is_first = !first ||
                              std::tie(edge.from, edge.to) < std::tie(first->from, first->to);
        if (is_first) first = edge;
    };
    for (std::size_t i = 0; i < own.size(); ++i) {
        const auto other = static_cast<std::int32_t>(i);
        consider({self, other, own[i].to, others[i].from});
        consider({other, self, others[i].to, own[i].from});
    }
    return first.value_or(Disagreement{});
}

/// The same on all ranks.
Status check_edges(Communicator& parent, const OwnEdges& edges) {
    const auto size = static_cast<std::size_t>(parent.size());
    std::vector<EdgeCounts> own(size), others(size);
    for (const std::int32_t target : edges.targets) ++own[static_cast<std::size_t>(target)].to;
    for (const std::int32_t source : edges.sources) ++own[static_cast<std::size_t>(source)].from;
    Status outcome = exchange(parent, coll::Collective::alltoall, own.data(), others);
    if (!outcome.ok()) return outcome;
    const Disagreement mine = find_disagreement(parent.rank(), own, others);
    std::vector<Disagreement> all(size);
    outcome = exchange(parent, coll::Collective::allgather, &mine, all);
    if (!outcome.ok()) return outcome;
    const Disagreement* first = nullptr;
    for (const Disagreement& edge : all) {
        if (edge.from < 0) continue;
        const bool is_first = first == nullptr ||
                              std::tie(edge.from, edge.to) < std::tie(first->from, first->to);
        if (is_first) first = &edge;
    }
    if (first == nullptr) return {};
    return fail(
        Errc::mismatch,
        "rank {} names rank {} {} times among its targets, but rank {} names rank {} {} times "
        "among its sources",
        first->from, first->to, first->sent_count, first->to, first->from, first->received_count
    );
}

/// FNV-1a over the dimensions.
std::uint64_t hash_grid(const coll::Grid& grid) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto take = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
    take(grid.dimensions().size());
    for (const coll::Grid::Dimension& dimension : grid.dimensions()) {
        take(static_cast<std::uint64_t>(dimension.size));
        take(dimension.is_periodic ? 1 : 0);
    }
    return hash;
}

Status check_grid(Communicator& parent, const coll::Grid& grid) {
    const std::uint64_t hash = hash_grid(grid);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(parent.size()));
    const Status outcome = exchange(parent, coll::Collective::allgather, &hash, all);
    if (!outcome.ok()) return outcome;
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] == all[0]) continue;
        return fail(Errc::mismatch, "rank {} asks for another grid than rank 0", rank);
    }
    return {};
}

std::vector<coll::Link> links_to(std::span<const std::int32_t> ranks) {
    std::vector<coll::Link> links;
    links.reserve(ranks.size());
    for (const std::int32_t rank : ranks) links.push_back({rank, 0});
    return links;
}

}  // namespace

Result<CommunicatorRef> create_graph(
    Communicator& parent, const OwnEdges& edges, const ContextSource& new_context
) {
    if (const Status bad = check_edges(parent, edges); !bad.ok()) return bad;
    Result<CommunicatorRef> made = duplicate(parent, new_context);
    if (!made) return made;
    coll::Neighbours neighbours{links_to(edges.sources), links_to(edges.targets)};
    (*made)->set_topology(
        std::make_shared<const Topology>(std::move(neighbours), (*made)->size(), (*made)->rank())
    );
    return made;
}

Result<CommunicatorRef> create_cart(
    Communicator& parent, const coll::Grid& grid, const ContextSource& new_context
) {
    if (const Status bad = check_grid(parent, grid); !bad.ok()) return bad;
    const auto members = parent.group()->members().first(static_cast<std::size_t>(grid.rank_count())
    );
    const auto group = std::make_shared<const Group>(
        std::vector<WorldRank>(members.begin(), members.end())
    );
    Result<CommunicatorRef> made = create(parent, group, new_context);
    if (!made || *made == nullptr) return made;
    (*made)->set_topology(std::make_shared<const Topology>(grid, (*made)->rank()));
    return made;
}

}  // namespace dlrt
