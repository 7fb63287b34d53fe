// SPDX-License-Identifier: Apache-2.0
/// The programs, one for each role.
#include "collectives/lowering.hpp"

#include "runtime/base/check.hpp"

namespace dlrt::coll {
namespace {

using namespace programs;

CellProgram between_two(Collective collective, bool is_root) {
    switch (collective) {
        case Collective::barrier:
        case Collective::allreduce:
        case Collective::allgather:
        case Collective::reduce_scatter:
        case Collective::alltoall:
            return {pair_exchange, false, 2};
        case Collective::bcast:
        case Collective::scatter:
            return {is_root ? std::span<const CellStep>(give) : take, false, 1};
        case Collective::reduce:
        case Collective::gather:
            return {is_root ? std::span<const CellStep>(pair_collect) : give, false, 1};
        case Collective::scan:
        case Collective::exscan:
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            break;
    }
    return {};
}

bool has_blocks_for_all(Collective collective) {
    return collective == Collective::scatter || collective == Collective::alltoall ||
           collective == Collective::reduce_scatter;
}

/// Whether every rank reads the cells of all.
bool is_exchange(Collective collective) {
    return collective == Collective::allgather || collective == Collective::alltoall ||
           collective == Collective::reduce_scatter;
}

std::span<const CellStep> along_ranks(std::int32_t size, std::int32_t rank) {
    if (rank == 0) return first_prefix;
    if (rank == size - 1) return last_prefix;
    return prefix;
}

}  // namespace

CellProgram cell_program(
    Collective collective, std::int32_t size, std::int32_t rank, std::int32_t root
) {
    DLRT_ASSERT(size >= 2);
    const bool is_root = rank == root;
    if (collective == Collective::scan || collective == Collective::exscan) {
        return {along_ranks(size, rank), false, size - 1};
    }
    if (size == 2) return between_two(collective, is_root);
    switch (collective) {
        case Collective::barrier:
        case Collective::allreduce:
            return {meet, true, size};
        case Collective::allgather:
        case Collective::reduce_scatter:
        case Collective::alltoall:
            return {exchange, true, size};
        case Collective::bcast:
        case Collective::scatter:
            return {is_root ? std::span<const CellStep>(give) : take, false, 1};
        case Collective::reduce:
        case Collective::gather:
            return {
                is_root ? std::span<const CellStep>(counted_collect) : counted_give, true,
                size - 1};
        case Collective::scan:
        case Collective::exscan:
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            break;
    }
    return {};
}

std::uint64_t contribution_bytes(
    Collective collective, std::int32_t size, std::uint64_t piece_bytes
) {
    return has_blocks_for_all(collective) ? piece_bytes * static_cast<std::uint64_t>(size)
                                          : piece_bytes;
}

bool suits_cells(Collective collective, std::int32_t size, std::uint64_t piece_bytes) {
    if (size < 2) return false;
    using enum Collective;
    constexpr std::uint64_t exchanged_bytes_max = 32 * 1024, added_bytes_max = 128 * 1024;
    const std::uint64_t all_bytes = piece_bytes * static_cast<std::uint64_t>(size);
    const bool is_piece = piece_bytes <= cell_bytes_max;
    if (collective == bcast) return piece_bytes <= cell_vector_bytes_max;
    // One rank adds all of it up. For each piece of the one only the root waits for others, for
    // each of the other all ranks do.
    if (collective == reduce || collective == allreduce) {
        const std::uint64_t most = cell_vector_bytes_max / (collective == reduce ? 1 : 2);
        return is_piece || (piece_bytes <= most && all_bytes <= added_bytes_max);
    }
    // Every rank copies all of it, or one does.
    if (collective == allgather) return all_bytes <= exchanged_bytes_max;
    if (collective == gather) return is_piece || all_bytes <= exchanged_bytes_max;
    if (contribution_bytes(collective, size, piece_bytes) <= cell_bytes_max)
        return !is_exchange(collective) || all_bytes <= exchanged_bytes_max;
    // Of each block a piece, not too short.
    constexpr std::int32_t size_max = 64;
    return has_blocks_for_all(collective) && size <= size_max && all_bytes <= 2 * cell_bytes_max;
}

}  // namespace dlrt::coll
