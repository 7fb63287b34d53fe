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
    const std::size_t count = schedule.steps.size();
    std::vector<std::uint32_t>& begins = schedule.successor_begin;
    begins.assign(count + 1, 0);
    for (const Edge& edge : edges) {
        DLRT_ASSERT(edge.from < edge.to && edge.to < count);
        ++begins[edge.from + 1];
    }
    for (std::size_t i = 0; i < count; ++i) begins[i + 1] += begins[i];
    std::vector<std::uint32_t> targets(edges.size());
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (const Edge& edge : edges) targets[next[edge.from]++] = edge.to;
    schedule.successors.clear();
    schedule.successors.reserve(edges.size());
    schedule.predecessor_counts.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = targets.begin() + begins[i];
        const auto last = targets.begin() + begins[i + 1];
        if (!std::is_sorted(first, last)) std::sort(first, last);
        begins[i] = static_cast<std::uint32_t>(schedule.successors.size());
        schedule.successors.insert(schedule.successors.end(), first, std::unique(first, last));
        for (std::size_t k = begins[i]; k < schedule.successors.size(); ++k)
            ++schedule.predecessor_counts[schedule.successors[k]];
    }
    begins[count] = static_cast<std::uint32_t>(schedule.successors.size());
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
