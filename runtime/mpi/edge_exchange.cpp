// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/edge_exchange.hpp"

#include "runtime/collective.hpp"

#include <numeric>

namespace dlrt::mpi {
namespace {

static_assert(sizeof(Edge) == 3 * sizeof(std::int32_t));

/// To each rank the edges that are for it; what the others have for this one, in their order.
Status deal_out(
    Communicator& comm, const std::vector<std::vector<Edge>>& outgoing, std::vector<Edge>& incoming
) {
    const auto size = static_cast<std::size_t>(comm.size());
    const LayoutRef* const number = &Layout::of(ElementType::int64);
    std::vector<std::int64_t> sent(size), received(size);
    std::vector<Edge> packed;
    for (std::size_t i = 0; i < size; ++i) {
        sent[i] = static_cast<std::int64_t>(outgoing[i].size() * sizeof(Edge));
        packed.insert(packed.end(), outgoing[i].begin(), outgoing[i].end());
    }
    CollectiveCall counts;
    counts.collective = coll::Collective::alltoall;
    counts.input = {sent.data(), 1, number};
    counts.output = {received.data(), 1, number};
    if (const Status failed = run_collective(comm, counts); !failed.ok()) return failed;
    const std::int64_t bytes = std::accumulate(received.begin(), received.end(), std::int64_t{0});
    incoming.resize(static_cast<std::size_t>(bytes) / sizeof(Edge));
    const LayoutRef* const layouts[] = {&Layout::of(ElementType::byte)};
    BlockList input, output;
    input.counts = sent;
    input.layouts = layouts;
    output.counts = received;
    output.layouts = layouts;
    CollectiveCall data;
    data.collective = coll::Collective::alltoall;
    data.input.address = packed.data();
    data.output.address = incoming.data();
    data.input_list = &input;
    data.output_list = &output;
    return run_collective(comm, data);
}

}  // namespace

Status exchange_edges(Communicator& comm, std::span<const Edge> edges, NeighbourLists& lists) {
    const auto size = static_cast<std::size_t>(comm.size());
    std::vector<std::vector<Edge>> by_source(size), by_target(size);
    for (const Edge& edge : edges) {
        by_source[static_cast<std::size_t>(edge.source)].push_back(edge);
        by_target[static_cast<std::size_t>(edge.target)].push_back(edge);
    }
    std::vector<Edge> own;
    if (const Status failed = deal_out(comm, by_source, own); !failed.ok()) return failed;
    for (const Edge& edge : own) {
        lists.targets.push_back(edge.target);
        lists.target_weights.push_back(edge.weight);
    }
    own.clear();
    if (const Status failed = deal_out(comm, by_target, own); !failed.ok()) return failed;
    for (const Edge& edge : own) {
        lists.sources.push_back(edge.source);
        lists.source_weights.push_back(edge.weight);
    }
    return {};
}

}  // namespace dlrt::mpi
