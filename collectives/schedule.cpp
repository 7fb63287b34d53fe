// SPDX-License-Identifier: Apache-2.0
/// Edges as lists, names, and the sizes of chunks.
#include "collectives/schedule.hpp"

#include "runtime/base/check.hpp"

namespace dlrt::coll {

std::vector<Edge> edges_of(const Schedule& schedule) {
    std::vector<Edge> edges;
    edges.reserve(schedule.successors.size());
    for (std::uint32_t from = 0; from < schedule.steps.size(); ++from) {
        for (std::uint32_t to : schedule.successors_of(from)) edges.push_back({from, to});
    }
    return edges;
}

void set_edges(Schedule& schedule, std::vector<Edge> edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const std::size_t count = schedule.steps.size();
    schedule.successor_begin.assign(count + 1, 0);
    schedule.successors.resize(edges.size());
    schedule.predecessor_counts.assign(count, 0);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        DLRT_ASSERT(edges[i].from < edges[i].to && edges[i].to < count);
        schedule.successors[i] = edges[i].to;
        ++schedule.successor_begin[edges[i].from + 1];
        ++schedule.predecessor_counts[edges[i].to];
    }
    for (std::size_t i = 0; i < count; ++i)
        schedule.successor_begin[i + 1] += schedule.successor_begin[i];
}

std::string_view name_of(Collective collective) {
    switch (collective) {
        case Collective::barrier:
            return "barrier";
        case Collective::bcast:
            return "bcast";
        case Collective::reduce:
            return "reduce";
        case Collective::allreduce:
            return "allreduce";
        case Collective::gather:
            return "gather";
        case Collective::scatter:
            return "scatter";
        case Collective::allgather:
            return "allgather";
        case Collective::reduce_scatter:
            return "reduce_scatter";
        case Collective::alltoall:
            return "alltoall";
        case Collective::scan:
            return "scan";
        case Collective::exscan:
            return "exscan";
        case Collective::neighbor_allgather:
            return "neighbor_allgather";
        case Collective::neighbor_alltoall:
            return "neighbor_alltoall";
    }
    return "?";
}

std::string_view name_of(BufferId buffer) {
    switch (buffer) {
        case BufferId::none:
            return "none";
        case BufferId::input:
            return "input";
        case BufferId::output:
            return "output";
        case BufferId::scratch:
            return "scratch";
    }
    return "?";
}

std::string_view name_of(StepKind kind) {
    switch (kind) {
        case StepKind::send:
            return "send";
        case StepKind::recv:
            return "recv";
        case StepKind::reduce:
            return "reduce";
        case StepKind::copy:
            return "copy";
    }
    return "?";
}

ChunkSizes ChunkSizes::split(
    std::uint64_t total_bytes, std::uint64_t unit_bytes, std::uint32_t chunk_count
) {
    DLRT_ASSERT(unit_bytes > 0 && chunk_count > 0);
    const std::uint64_t units = (total_bytes + unit_bytes - 1) / unit_bytes;
    return {(units + chunk_count - 1) / chunk_count * unit_bytes, total_bytes};
}

}  // namespace dlrt::coll
