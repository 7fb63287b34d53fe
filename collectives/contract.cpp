// SPDX-License-Identifier: Apache-2.0
/// The collectives, one case each.
#include "collectives/contract.hpp"

namespace dlrt::coll {
namespace {

Content of_rank(std::int32_t rank, std::uint32_t chunk) {
    return {Content::Kind::of_rank, rank, chunk};
}
Content of_all(std::uint32_t chunk) {
    return {Content::Kind::of_all, -1, chunk};
}
Content of_prefix(std::int32_t last_rank, std::uint32_t chunk) {
    return {Content::Kind::of_prefix, last_rank, chunk};
}

struct View {
    explicit View(const Schedule& schedule)
        : rank(schedule.shape.rank),
          root(schedule.shape.root),
          is_root(rank == root),
          is_in_place(schedule.shape.placement == Placement::in_place),
          chunks(schedule.chunk_count),
          input_blocks(schedule.input_blocks),
          output_blocks(schedule.output_blocks) {}
    std::int32_t rank, root;
    bool is_root, is_in_place;
    std::uint32_t chunks, input_blocks, output_blocks;
};

std::uint32_t input_chunks(Collective collective, const View& view) {
    switch (collective) {
        case Collective::barrier:
        case Collective::bcast:
            return 0;
        case Collective::reduce:
            return view.is_root && view.is_in_place ? 0 : view.chunks;
        case Collective::allreduce:
        case Collective::reduce_scatter:
        case Collective::alltoall:
        case Collective::scan:
        case Collective::exscan:
            return view.is_in_place ? 0 : view.chunks;
        case Collective::gather:
            return view.is_root && view.is_in_place ? 0 : 1;
        case Collective::scatter:
            return view.is_root ? view.chunks : 0;
        case Collective::allgather:
            return view.is_in_place ? 0 : 1;
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            return view.input_blocks;
    }
    return 0;
}

std::uint32_t output_chunks(Collective collective, const View& view) {
    switch (collective) {
        case Collective::barrier:
            return 0;
        case Collective::bcast:
        case Collective::allreduce:
        case Collective::allgather:
        case Collective::alltoall:
        case Collective::scan:
            return view.chunks;
        case Collective::reduce:
        case Collective::gather:
            return view.is_root ? view.chunks : 0;
        case Collective::scatter:
            return view.is_root && view.is_in_place ? 0 : 1;
        case Collective::reduce_scatter:
            return view.is_in_place ? view.chunks : 1;
        case Collective::exscan:
            // Nothing is before rank 0: its output means nothing and need not even be there.
            return view.rank == 0 && !view.is_in_place ? 0 : view.chunks;
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            return view.output_blocks;
    }
    return 0;
}

}  // namespace

std::uint32_t buffer_chunks(const Schedule& schedule, BufferId buffer) {
    const View view(schedule);
    switch (buffer) {
        case BufferId::none:
            return 0;
        case BufferId::input:
            return input_chunks(schedule.collective, view);
        case BufferId::output:
            return output_chunks(schedule.collective, view);
        case BufferId::scratch:
            return schedule.scratch_chunks;
    }
    return 0;
}

bool has_blocks(Collective collective) {
    return collective == Collective::gather || collective == Collective::scatter ||
           collective == Collective::allgather || collective == Collective::reduce_scatter ||
           collective == Collective::alltoall;
}

bool has_reduction(Collective collective) {
    return collective == Collective::reduce || collective == Collective::allreduce ||
           collective == Collective::reduce_scatter || collective == Collective::scan ||
           collective == Collective::exscan;
}

bool is_writable(BufferId buffer) {
    return buffer == BufferId::output || buffer == BufferId::scratch;
}

Content content_before(const Schedule& schedule, const Place& place) {
    const View view(schedule);
    const bool is_input = place.buffer == BufferId::input;
    if (!is_input && place.buffer != BufferId::output) return {};
    switch (schedule.collective) {
        case Collective::barrier:
            return {};
        case Collective::bcast:
            return view.is_root ? of_rank(view.rank, place.chunk) : Content{};
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::reduce_scatter:
        case Collective::alltoall:
        case Collective::scan:
        case Collective::exscan:
            return is_input || view.is_in_place ? of_rank(view.rank, place.chunk) : Content{};
        case Collective::gather:
        case Collective::allgather:
            if (is_input) return of_rank(view.rank, 0);
            return view.is_in_place && place.chunk == static_cast<std::uint32_t>(view.rank)
                       ? of_rank(view.rank, 0)
                       : Content{};
        case Collective::scatter:
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            return is_input ? of_rank(view.rank, place.chunk) : Content{};
    }
    return {};
}

Content content_after(const Schedule& schedule, const Place& place) {
    if (place.buffer == BufferId::input) return content_before(schedule, place);
    if (place.buffer != BufferId::output) return {};
    const View view(schedule);
    switch (schedule.collective) {
        case Collective::barrier:
        // Only the neighbours know: see verify_neighbours.hpp.
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            return {};
        case Collective::bcast:
            return of_rank(view.root, place.chunk);
        case Collective::reduce:
        case Collective::allreduce:
            return of_all(place.chunk);
        case Collective::gather:
        case Collective::allgather:
            return of_rank(static_cast<std::int32_t>(place.chunk), 0);
        case Collective::scatter:
            return of_rank(view.root, static_cast<std::uint32_t>(view.rank));
        case Collective::reduce_scatter:
            return place.chunk == 0 ? of_all(static_cast<std::uint32_t>(view.rank)) : Content{};
        case Collective::alltoall:
            return of_rank(
                static_cast<std::int32_t>(place.chunk), static_cast<std::uint32_t>(view.rank)
            );
        case Collective::scan:
            return of_prefix(view.rank, place.chunk);
        case Collective::exscan:
            // In place, the buffer of rank 0 is left as it was.
            return view.rank == 0 ? of_rank(0, place.chunk) : of_prefix(view.rank - 1, place.chunk);
    }
    return {};
}

}  // namespace dlrt::coll
