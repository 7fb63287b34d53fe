// SPDX-License-Identifier: Apache-2.0
/// The collective area of the host segment: for each of a number of communicators the cells that
/// collectives/lowering.hpp speaks of, in shared memory.
///
///   claims, notes | per communicator: head | ring of cells per member and for the result | bodies
///
/// A ring has lines of 128 bytes, which hold what is short, and larger bodies, of which there are
/// fewer. All bytes start as zero, and are zero again before another communicator gets them.
#pragma once

#include "collectives/lowering.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/host_notes.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace dlrt {

/// What all ranks must agree on, as it stands in a cell: condensed. The words for a disagreement
/// come from the flight rings.
struct CellCall {
    std::uint32_t call = 0;
    /// Of all calls before, so that those that needed nothing of each other are compared, too.
    std::uint32_t history = 0;
    friend bool operator==(const CellCall&, const CellCall&) = default;
};

inline constexpr std::uint64_t cell_line_depth = 16;
inline constexpr std::uint64_t cell_body_depth = 4;

struct alignas(no_sharing_bytes) CellLine {
    std::atomic<std::uint32_t> mark;  ///< Number of the operation it holds, plus one (mod 2^32).
    CellCall call;
    alignas(8) std::array<std::byte, 112> payload;
};
static_assert(sizeof(CellLine) == no_sharing_bytes);

struct alignas(4096) CellRing {
    std::array<CellLine, cell_line_depth> lines;
    /// How many operations this member needs no cell of any more; only its own thread writes it.
    alignas(no_sharing_bytes) std::atomic<std::uint64_t> finished;
    /// How many all members must be done with before this one goes on; 0: it doesn't wait for room.
    std::atomic<std::uint64_t> wanted;
    /// The same of the member above alone.
    std::atomic<std::uint64_t> wanted_of_next;
};
static_assert(sizeof(CellRing) == 4096);

struct alignas(4096) CellBodies {
    std::array<std::array<std::byte, coll::cell_bytes_max>, cell_body_depth> bodies;
};

struct alignas(no_sharing_bytes) CellArrivals {
    std::atomic<std::uint32_t> count;  ///< Grows by the writers of each counted operation.
};

/// Two ranks have made different calls. The first who finds out writes it.
struct alignas(no_sharing_bytes) CellDispute {
    std::atomic<std::uint32_t> raised;   ///< 1 once the fields below are set.
    std::atomic<std::uint32_t> claimed;  ///< 1 once somebody is writing.
    std::int32_t ranks[2];
    std::uint64_t number;  ///< Of the operation.
};

struct alignas(4096) CellAreaHead {
    CellDispute dispute;
    /// Members that sleep, or are about to, until others have finished with something.
    alignas(no_sharing_bytes) std::atomic<std::uint32_t> room_waiters;
    alignas(no_sharing_bytes) std::atomic<std::uint32_t> left;  ///< Members who have given it back.
    std::array<CellArrivals, cell_line_depth> arrivals;
};
static_assert(sizeof(CellAreaHead) == 4096);

/// One communicator's part. A view.
class CellArea {
  public:
    CellArea() = default;
    CellArea(std::byte* begin, std::uint32_t local_size) : begin_(begin), local_size_(local_size) {}

    [[nodiscard]] CellAreaHead& head() const { return *reinterpret_cast<CellAreaHead*>(begin_); }
    /// By rank in the communicator; `local_size` for the result.
    [[nodiscard]] CellRing& ring(std::uint32_t member) const {
        return reinterpret_cast<CellRing*>(begin_ + head_bytes)[member];
    }
    [[nodiscard]] CellRing& results() const { return ring(local_size_); }
    [[nodiscard]] std::byte* body(std::uint32_t member, std::uint64_t operation) const {
        auto* all = reinterpret_cast<CellBodies*>(
            begin_ + head_bytes + (std::uint64_t{local_size_} + 1) * sizeof(CellRing)
        );
        return all[member].bodies[operation % cell_body_depth].data();
    }
    [[nodiscard]] std::byte* result_body(std::uint64_t operation) const {
        return body(local_size_, operation);
    }
    /// As it was at first, for a communicator of so many members.
    void clear(std::uint32_t members) const;

    static constexpr std::uint64_t head_bytes = 3 * 4096;
    [[nodiscard]] static constexpr std::uint64_t size_bytes(std::uint32_t local_size) {
        return head_bytes +
               (std::uint64_t{local_size} + 1) * (sizeof(CellRing) + sizeof(CellBodies));
    }

  private:
    std::byte* begin_ = nullptr;
    std::uint32_t local_size_ = 0;
};

/// All of them. A view; any process, any thread.
class CellAreas {
  public:
    static constexpr std::uint32_t count = 64;
    /// Not claimed: a job's world has one in each of its lives from init to finalize, in turns, so
    /// that who is late to leave one doesn't meet those who have begun the next.
    static constexpr std::uint32_t world_count = 2;

    CellAreas(MutableBytes bytes, std::uint32_t local_size)
        : bytes_(bytes), local_size_(local_size) {}

    [[nodiscard]] HostNotes& notes() const {
        return *reinterpret_cast<HostNotes*>(bytes_.data() + notes_offset_bytes);
    }
    /// None when all are in use.
    [[nodiscard]] std::optional<std::uint32_t> claim() const;
    [[nodiscard]] CellArea area(std::uint32_t number) const;
    /// One of the members doesn't use it any more; the last one makes it free.
    void leave(std::uint32_t number, std::uint32_t members) const;

    [[nodiscard]] static constexpr std::uint64_t size_bytes(std::uint32_t local_size) {
        return claims_bytes + count * CellArea::size_bytes(local_size);
    }

  private:
    static constexpr std::uint64_t claims_bytes = 4096;
    static constexpr std::uint64_t notes_offset_bytes = no_sharing_bytes;
    static_assert(notes_offset_bytes + sizeof(HostNotes) <= claims_bytes);
    [[nodiscard]] std::atomic<std::uint64_t>& claims() const {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(bytes_.data());
    }

    MutableBytes bytes_;
    std::uint32_t local_size_;
};

}  // namespace dlrt
