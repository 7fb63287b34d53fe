// SPDX-License-Identifier: Apache-2.0
/// Collectives over cells: how the ranks of one host do a small operation by writing into memory
/// that they share, instead of by messages. Pure: what each rank does, step by step, as data. The
/// runtime carries the steps out, and a test carries them out in every order that there is.
///
/// Each member of a communicator, and the result, has a ring of cells. Operation number k (counted
/// from 0) uses the slot k modulo the depth of the rings in all of them. A cell has one writer, and
/// a mark that says for which operation it holds something. Each member publishes how many
/// operations it has finished with; nobody overwrites a cell before all members have finished with
/// what it held. So those who have nothing to wait for may run ahead by the depth.
///
/// Where several ranks wait for all others, the arrivals are counted in the slot, and the last one
/// to arrive tells the waiting: each rank is woken once, however many they are.
///
/// Where only the rank above reads a cell, that one is asked alone, once all have finished with the
/// last operation whose cell others have read too: so a row of ranks holds as many operations as
/// all their rings together.
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>
#include <span>

namespace dlrt::coll {

enum class CellStep : std::uint8_t {
    await_room,        ///< Until nobody needs what the slot held before.
    await_room_above,  ///< The same; only the rank above will read what is written now.
    write,             ///< The rank's contribution, into its cell.
    mark,              ///< The cell: it holds this operation's contribution.
    arrive,            ///< Is counted. Only who was last takes the steps that begin with last_.
    last_combine,      ///< All contributions, in the order of ranks, into the result's cell.
    last_mark_result,
    last_ring_all,  ///< Wakes those who sleep.
    last_ring_root,
    ring_all,
    ring_next,         ///< The rank above.
    await_root_cell,   ///< Until it is marked.
    await_other_cell,  ///< Of a pair.
    await_lower_cell,  ///< Of the rank below.
    await_arrivals,    ///< Until all who write have been counted.
    await_result,      ///< Until it is marked.
    take_root_cell,    ///< Reads what the rank needs of it.
    take_cells,
    take_result,
    extend_lower_cell,  ///< What the rank below has, and the rank's contribution, into its cell.
    take_own_prefix,    ///< Of the reductions along the ranks what is this rank's.
    finish,             ///< The rank needs nothing of the slot any more.
};

/// All that there are. One for each role; who carries them out may have a compiled form of each.
namespace programs {
using enum CellStep;

/// Between two ranks a mark tells all, and who comes second need not be known.
inline constexpr CellStep pair_exchange[] = {await_room,       write,      mark,  ring_all,
                                             await_other_cell, take_cells, finish};
inline constexpr CellStep pair_collect[] = {await_other_cell, take_cells, finish};
inline constexpr CellStep give[] = {await_room, write, mark, ring_all, finish};
inline constexpr CellStep take[] = {await_root_cell, take_root_cell, finish};

/// The mark of a cell comes last where arrivals are counted: a rank that has gone without it has
/// left something undone, be it that it was the last one and has told nobody.
inline constexpr CellStep meet[] = {await_room,       write,         arrive, last_combine,
                                    last_mark_result, last_ring_all, mark,   await_result,
                                    take_result,      finish};
inline constexpr CellStep exchange[] = {await_room, write,          arrive,     last_ring_all,
                                        mark,       await_arrivals, take_cells, finish};
inline constexpr CellStep counted_give[] = {await_room,     write, arrive,
                                            last_ring_root, mark,  finish};
inline constexpr CellStep counted_collect[] = {await_arrivals, take_cells, finish};

/// Along the ranks: nobody waits for those above, but for room.
inline constexpr CellStep first_prefix[] = {await_room_above, write,           mark,
                                            ring_next,        take_own_prefix, finish};
inline constexpr CellStep prefix[] = {await_room_above,
                                      await_lower_cell,
                                      extend_lower_cell,
                                      mark,
                                      ring_next,
                                      take_own_prefix,
                                      finish};
inline constexpr CellStep last_prefix[] = {await_lower_cell, take_own_prefix, finish};
}  // namespace programs

struct CellProgram {
    /// Empty: this collective isn't done that way.
    std::span<const CellStep> steps;
    /// Whether arrivals are counted; by ranks that only read the cells too, who don't arrive.
    bool counts = false;
    /// Ranks that write a cell, and are counted where that is done.
    std::int32_t writer_count = 0;
};

/// What one rank does. REQUIRES: size >= 2. `root` says nothing where there is none.
[[nodiscard]] CellProgram cell_program(
    Collective collective, std::int32_t size, std::int32_t rank, std::int32_t root
);

/// Whether the operation that writes `operation` may overwrite what the slot held before.
[[nodiscard]] constexpr bool has_room(
    std::uint64_t operation, std::uint64_t finished_by_all, std::uint64_t depth
) {
    return operation - finished_by_all < depth;
}
/// Who waits for room waits for this much, so that it isn't woken for every single cell.
[[nodiscard]] constexpr std::uint64_t finished_to_wait_for(
    std::uint64_t operation, std::uint64_t depth
) {
    return operation + 1 - (depth + 1) / 2;
}

/// Bytes of a rank's contribution: piece_bytes is that of the vector or of one block.
[[nodiscard]] std::uint64_t contribution_bytes(
    Collective collective, std::int32_t size, std::uint64_t piece_bytes
);

/// Whether cells are the better way where there are any. All ranks agree on these numbers.
[[nodiscard]] bool suits_cells(Collective collective, std::int32_t size, std::uint64_t piece_bytes);

/// The most that a cell holds.
inline constexpr std::uint64_t cell_bytes_max = 4096;
/// A longer vector goes through cells piece by piece, each an operation of its own, up to this.
inline constexpr std::uint64_t cell_vector_bytes_max = 8 * cell_bytes_max;

}  // namespace dlrt::coll
