// SPDX-License-Identifier: Apache-2.0
/// Chapter: topologies that are graphs, and distributed graphs.
#include "runtime/collective.hpp"
#include "runtime/mpi/edge_exchange.hpp"
#include "runtime/mpi/topology_site.hpp"
#include "runtime/topology_create.hpp"

#include <algorithm>
#include <mpi_functions.hpp>
#include <span>

namespace dlrt::mpi {
namespace {

/// A whole graph as its caller describes it: index[i] is the end of the neighbours of rank i.
struct Graph {
    std::vector<int> index, edges;

    [[nodiscard]] std::span<const int> neighbours_of(int rank) const {
        const auto place = static_cast<std::size_t>(rank);
        const auto begin = static_cast<std::size_t>(place == 0 ? 0 : index[place - 1]);
        return std::span(edges).subspan(begin, static_cast<std::size_t>(index[place]) - begin);
    }
};

int read_graph(const Site& site, int nnodes, const int* index, const int* edges, Graph& graph) {
    if (nnodes < 0) return site.bad(MPI_ERR_ARG, "nnodes {} is negative", nnodes);
    if (nnodes > site.core().size()) {
        return site.bad(
            MPI_ERR_ARG, "the graph has {} nodes, the communicator {} ranks", nnodes,
            site.core().size()
        );
    }
    if (nnodes == 0) return MPI_SUCCESS;
    if (const int wrong = site.require(index, "indx")) return wrong;
    graph.index.assign(index, index + nnodes);
    int before = 0;
    for (const int end : graph.index) {
        if (end < before) return site.bad(MPI_ERR_ARG, "indx goes from {} to {}", before, end);
        before = end;
    }
    if (before > 0 && edges == nullptr) return site.bad(MPI_ERR_ARG, "edges is null");
    if (before > 0) graph.edges.assign(edges, edges + before);
    for (const int edge : graph.edges) {
        if (edge >= 0 && edge < nnodes) continue;
        return site.bad(MPI_ERR_ARG, "edge to {} is not in 0..{}", edge, nnodes - 1);
    }
    return MPI_SUCCESS;
}

/// Whether every edge has its counterpart, as exchanges between neighbours ask for.
bool is_symmetric(const Graph& graph, int rank) {
    for (const int neighbour : graph.neighbours_of(rank)) {
        const auto there = graph.neighbours_of(neighbour);
        const auto here = graph.neighbours_of(rank);
        if (std::ranges::count(there, rank) != std::ranges::count(here, neighbour)) return false;
    }
    return true;
}

OwnEdges edges_of(const Graph& graph, int rank) {
    return {graph.neighbours_of(rank), graph.neighbours_of(rank)};
}

int open_graph(const Site& site, int kind) {
    if (!site.ok()) return site.error();
    const int wrong = require_kind(site, kind);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

}  // namespace

int MPI_Graph_create(
    MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int, MPI_Comm* comm_graph
) {
    const Site site("MPI_Graph_create", comm_old);
    if (!site.ok()) return site.error();
    Graph graph;
    int wrong = require_intra(site);
    if (wrong == MPI_SUCCESS) wrong = site.require(comm_graph, "comm_graph");
    if (wrong == MPI_SUCCESS) wrong = read_graph(site, nnodes, indx, edges, graph);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const FlightMark mark(site.surface(), record_of(Call::comm_create, site.core()));
    const auto& members = site.core().group()->members();
    const auto part = std::make_shared<const Group>(
        std::vector<WorldRank>(members.begin(), members.begin() + nnodes)
    );
    Result<CommunicatorRef> made = create(site.core(), part, new_context);
    bool is_exchangeable = made && *made != nullptr;
    for (int rank = 0; rank < nnodes && is_exchangeable; ++rank) {
        is_exchangeable = is_symmetric(graph, rank);
    }
    if (is_exchangeable) {
        const CommunicatorRef base = *made;
        made = create_graph(*base, edges_of(graph, base->rank()), new_context);
        retire(*base);
    }
    TopologyFacts facts;
    facts.kind = MPI_GRAPH;
    facts.index = std::move(graph.index);
    facts.edges = std::move(graph.edges);
    wrong = give_topology(site, made, std::move(facts), comm_graph);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int* newrank) {
    const Site site("MPI_Graph_map", comm);
    if (!site.ok()) return site.error();
    Graph graph;
    int wrong = require_intra(site);
    if (wrong == MPI_SUCCESS) wrong = site.require(newrank, "newrank");
    if (wrong == MPI_SUCCESS && nnodes < 1) {
        wrong = site.bad(MPI_ERR_ARG, "nnodes {} is below 1", nnodes);
    }
    if (wrong == MPI_SUCCESS) wrong = read_graph(site, nnodes, indx, edges, graph);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    *newrank = site.core().rank() < nnodes ? site.core().rank() : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
    const Site site("MPI_Graphdims_get", comm);
    if (const int code = open_graph(site, MPI_GRAPH)) return code;
    if (const int wrong = site.require(nnodes, "nnodes")) return site.raise(wrong);
    if (const int wrong = site.require(nedges, "nedges")) return site.raise(wrong);
    *nnodes = static_cast<int>(site.comm().topology.index.size());
    *nedges = static_cast<int>(site.comm().topology.edges.size());
    return MPI_SUCCESS;
}

int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
    const Site site("MPI_Graph_get", comm);
    if (const int code = open_graph(site, MPI_GRAPH)) return code;
    const TopologyFacts& facts = site.comm().topology;
    if (maxindex < static_cast<int>(facts.index.size()) ||
        maxedges < static_cast<int>(facts.edges.size())) {
        return site.raise(
            MPI_ERR_ARG, "room for {} nodes and {} edges; there are {} and {}", maxindex, maxedges,
            facts.index.size(), facts.edges.size()
        );
    }
    if ((!facts.index.empty() && indx == nullptr) || (!facts.edges.empty() && edges == nullptr)) {
        return site.raise(MPI_ERR_ARG, "an array is null");
    }
    std::ranges::copy(facts.index, indx);
    std::ranges::copy(facts.edges, edges);
    return MPI_SUCCESS;
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
    const Site site("MPI_Graph_neighbors_count", comm);
    if (const int code = open_graph(site, MPI_GRAPH)) return code;
    if (const int wrong = check_rank(site, rank)) return site.raise(wrong);
    if (const int wrong = site.require(nneighbors, "nneighbors")) return site.raise(wrong);
    const Graph graph{site.comm().topology.index, site.comm().topology.edges};
    *nneighbors = static_cast<int>(graph.neighbours_of(rank).size());
    return MPI_SUCCESS;
}

int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
    const Site site("MPI_Graph_neighbors", comm);
    if (const int code = open_graph(site, MPI_GRAPH)) return code;
    if (const int wrong = check_rank(site, rank)) return site.raise(wrong);
    const Graph graph{site.comm().topology.index, site.comm().topology.edges};
    const auto found = graph.neighbours_of(rank);
    if (maxneighbors < static_cast<int>(found.size())) {
        return site.raise(MPI_ERR_ARG, "maxneighbors {} is below {}", maxneighbors, found.size());
    }
    if (!found.empty()) {
        if (const int wrong = site.require(neighbors, "neighbors")) return site.raise(wrong);
    }
    std::ranges::copy(found, neighbors);
    return MPI_SUCCESS;
}

namespace {

/// Neighbours on one side with their weights, as a caller gives them.
struct EdgeList {
    const char* name;
    int count;
    const int* ranks;
    const int* weights;

    [[nodiscard]] bool is_weighted() const { return weights != MPI_UNWEIGHTED; }
};

int check_edges(const Site& site, const EdgeList& list) {
    if (list.count < 0) {
        return site.bad(MPI_ERR_ARG, "the number of {} is {}", list.name, list.count);
    }
    if (list.count == 0) return MPI_SUCCESS;
    if (const int wrong = site.require(list.ranks, list.name)) return wrong;
    if (list.weights == nullptr || list.weights == MPI_WEIGHTS_EMPTY) {
        return site.bad(MPI_ERR_ARG, "the weights of {} {} are empty", list.count, list.name);
    }
    for (int i = 0; i < list.count; ++i) {
        if (const int wrong = check_rank(site, list.ranks[i])) return wrong;
        if (list.is_weighted() && list.weights[i] < 0) {
            return site.bad(MPI_ERR_ARG, "weight {} is negative", list.weights[i]);
        }
    }
    return MPI_SUCCESS;
}

std::vector<int> weights_of(const EdgeList& list) {
    if (!list.is_weighted() || list.count == 0) return {};
    return {list.weights, list.weights + list.count};
}

std::span<const int> ranks_of(const EdgeList& list) {
    return {list.ranks, static_cast<std::size_t>(list.count)};
}

/// Without the parent's topology.
Result<CommunicatorRef> duplicate_plain(Communicator& parent) {
    return create(parent, parent.group(), new_context);
}

int give_distributed(
    const Site& site, const OwnEdges& edges, TopologyFacts facts, MPI_Comm* result
) {
    const FlightMark mark(site.surface(), record_of(Call::comm_create, site.core()));
    facts.kind = MPI_DIST_GRAPH;
    facts.sources.assign(edges.sources.begin(), edges.sources.end());
    facts.targets.assign(edges.targets.begin(), edges.targets.end());
    Result<CommunicatorRef> made = create_graph(site.core(), edges, new_context);
    // Edges that only one rank names: the graph can be asked about, not used for exchanges.
    if (made.error().code == Errc::mismatch) made = duplicate_plain(site.core());
    const int wrong = give_topology(site, made, std::move(facts), result);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

}  // namespace

int MPI_Dist_graph_create_adjacent(
    MPI_Comm comm_old, int indegree, const int sources[], const int* sourceweights, int outdegree,
    const int destinations[], const int* destweights, MPI_Info, int, MPI_Comm* comm_dist_graph
) {
    const Site site("MPI_Dist_graph_create_adjacent", comm_old);
    if (!site.ok()) return site.error();
    const EdgeList in{"sources", indegree, sources, sourceweights};
    const EdgeList out{"destinations", outdegree, destinations, destweights};
    int wrong = require_intra(site);
    if (wrong == MPI_SUCCESS) wrong = check_edges(site, in);
    if (wrong == MPI_SUCCESS) wrong = check_edges(site, out);
    if (wrong == MPI_SUCCESS) wrong = site.require(comm_dist_graph, "comm_dist_graph");
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    TopologyFacts facts;
    facts.is_weighted = in.is_weighted() || out.is_weighted();
    facts.source_weights = weights_of(in);
    facts.target_weights = weights_of(out);
    return give_distributed(site, {ranks_of(in), ranks_of(out)}, std::move(facts), comm_dist_graph);
}

int MPI_Dist_graph_create(
    MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
    const int* weights, MPI_Info, int, MPI_Comm* comm_dist_graph
) {
    const Site site("MPI_Dist_graph_create", comm_old);
    if (!site.ok()) return site.error();
    int wrong = require_intra(site);
    if (wrong == MPI_SUCCESS) wrong = site.require(comm_dist_graph, "comm_dist_graph");
    if (wrong == MPI_SUCCESS && n < 0) wrong = site.bad(MPI_ERR_ARG, "n {} is negative", n);
    if (wrong == MPI_SUCCESS && n > 0 && (sources == nullptr || degrees == nullptr)) {
        wrong = site.bad(MPI_ERR_ARG, "sources or degrees is null");
    }
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    int edge_count = 0;
    for (int i = 0; i < n; ++i) {
        if (degrees[i] < 0) return site.raise(MPI_ERR_ARG, "degree {} is negative", degrees[i]);
        edge_count += degrees[i];
        wrong = check_rank(site, sources[i]);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
    }
    const EdgeList list{"destinations", edge_count, destinations, weights};
    wrong = check_edges(site, list);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    std::vector<Edge> edges;
    for (int i = 0, next = 0; i < n; ++i) {
        for (int k = 0; k < degrees[i]; ++k, ++next) {
            edges.push_back({sources[i], destinations[next], list.is_weighted() ? weights[next] : 0}
            );
        }
    }
    NeighbourLists lists;
    const Status told = exchange_edges(site.core(), edges, lists);
    if (!told.ok()) return site.raise(told);
    TopologyFacts facts;
    facts.is_weighted = list.is_weighted();
    if (facts.is_weighted) {
        facts.source_weights = lists.source_weights;
        facts.target_weights = lists.target_weights;
    }
    return give_distributed(
        site, {lists.sources, lists.targets}, std::move(facts), comm_dist_graph
    );
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
    const Site site("MPI_Dist_graph_neighbors_count", comm);
    if (const int code = open_graph(site, MPI_DIST_GRAPH)) return code;
    if (indegree == nullptr || outdegree == nullptr || weighted == nullptr) {
        return site.raise(MPI_ERR_ARG, "a result is null");
    }
    const TopologyFacts& facts = site.comm().topology;
    *indegree = static_cast<int>(facts.sources.size());
    *outdegree = static_cast<int>(facts.targets.size());
    *weighted = facts.is_weighted ? 1 : 0;
    return MPI_SUCCESS;
}

namespace {

void write_side(
    const std::vector<int>& neighbours, const std::vector<int>& known_weights, int most, int* ranks,
    int* weights
) {
    const std::size_t count = std::min(
        neighbours.size(), static_cast<std::size_t>(std::max(most, 0))
    );
    for (std::size_t i = 0; i < count; ++i) {
        ranks[i] = neighbours[i];
        const bool is_wanted = weights != nullptr && weights != MPI_UNWEIGHTED &&
                               weights != MPI_WEIGHTS_EMPTY;
        if (is_wanted && i < known_weights.size()) weights[i] = known_weights[i];
    }
}

}  // namespace

int MPI_Dist_graph_neighbors(
    MPI_Comm comm, int maxindegree, int sources[], int* sourceweights, int maxoutdegree,
    int destinations[], int* destweights
) {
    const Site site("MPI_Dist_graph_neighbors", comm);
    if (const int code = open_graph(site, MPI_DIST_GRAPH)) return code;
    if (maxindegree < 0 || maxoutdegree < 0) {
        return site.raise(MPI_ERR_ARG, "a number of neighbours is negative");
    }
    const bool is_missing = (maxindegree > 0 && sources == nullptr) ||
                            (maxoutdegree > 0 && destinations == nullptr);
    if (is_missing) return site.raise(MPI_ERR_ARG, "an array is null");
    const TopologyFacts& facts = site.comm().topology;
    write_side(facts.sources, facts.source_weights, maxindegree, sources, sourceweights);
    write_side(facts.targets, facts.target_weights, maxoutdegree, destinations, destweights);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
