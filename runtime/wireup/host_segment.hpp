// SPDX-License-Identifier: Apache-2.0
/// The host segment: one sparse memfd per host and job, mapped by the daemon and by every local
/// rank.
///
///   header | doorbell per rank | life per rank | flight ring per rank | tenancy | departed
///   elsewhere | collective area | transport area
///
/// All bytes start as zero. The daemon (or, without one, the lowest local rank) creates it, writes
/// the header, and seals its size. Only the sizes of the last two areas are known here; their
/// content belongs to runtime/host_cells.hpp and to transports/shm, which are handed the bytes.
/// Nothing in it has a name in a file system.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/doorbell.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace dlrt {

inline constexpr std::uint32_t local_rank_count_max = 1024;
inline constexpr std::uint32_t job_size_max = 1 << 20;

/// Where a local rank is in its life. Written by the rank itself up to `finalized`, by whoever
/// started it afterwards.
enum class RankLife : std::uint32_t {
    absent = 0,  ///< Has not initialised (or never will: not every program calls dlrt).
    initialized = 1,
    finalized = 2,
    departed = 3,  ///< Ended without finalize, or without init. Waits that need it fail.
};

/// Why everybody must stop. The first writer wins.
struct alignas(no_sharing_bytes) AbortCell {
    std::atomic<std::uint32_t> raised;   ///< 0, or 1 once the fields below are set.
    std::atomic<std::uint32_t> claimed;  ///< 0, or 1 once somebody is writing.
    std::int32_t code;
    std::uint32_t rank;  ///< World rank that aborted, UINT32_MAX: the launcher.
    char text[480];      ///< Zero-terminated UTF-8.
};

struct alignas(no_sharing_bytes) SegmentHeader {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t local_size;
    std::uint32_t usable_cpu_count;
    std::uint32_t host_index;
    std::uint64_t transport_area_offset;
    std::uint64_t transport_area_size;
    std::uint64_t total_size;
    std::uint32_t job_size;  ///< Ranks of the job, where some are on other hosts; else 0.
    /// Grows whenever a RankLife becomes `departed`, and for each rank of another host that does:
    /// one load tells a waiter that nothing changed.
    std::atomic<std::uint32_t> departures;
    char job_id[64];
};

struct alignas(cache_line_bytes) LifeCell {
    std::atomic<std::uint32_t> life;  ///< A RankLife.
    std::atomic<std::int32_t> pid;    ///< Of the process that claimed the rank, 0 if none.
    std::uint32_t world_rank;         ///< Written by the creator.
    /// How often the rank was claimed: grows with every init.
    std::atomic<std::uint32_t> generation;
    /// World rank of the first departed one that an operation of this rank needed, plus one; 0:
    /// none.
    std::atomic<std::uint32_t> missed_rank;
};

/// How many ranks (of all jobs that the daemons of this user know) may run on each cpu.
inline constexpr std::uint32_t cpu_count_max = 1024;
struct alignas(no_sharing_bytes) TenancyTable {
    std::atomic<std::uint16_t> tenants[cpu_count_max];  ///< Bound ranks per cpu number.
    std::atomic<std::uint32_t> unbound_ranks;           ///< Ranks that float over all usable cpus.
};

/// A mapping of the segment. Value-like handle to resources: unmaps when destroyed, movable.
class HostSegment {
  public:
    struct Shape {
        std::string_view job_id;  ///< At most 63 bytes.
        std::uint32_t host_index = 0;
        std::uint32_t usable_cpu_count = 1;
        std::span<const std::uint32_t> world_ranks;  ///< By local rank; 1..local_rank_count_max.
        /// Of the job, where some of its ranks are on other hosts: room to say who has departed.
        std::uint32_t job_size = 0;
    };

    /// Creates, sizes, seals and maps a segment. Errors: Errc::system, Errc::limit.
    [[nodiscard]] static Result<HostSegment> create(const Shape& shape);
    /// Maps one that somebody made; checks magic, version, sizes and seals. Keeps its own duplicate
    /// of the descriptor. Errors: Errc::wireup with the reason.
    [[nodiscard]] static Result<HostSegment> open(int descriptor);

    HostSegment(HostSegment&& other) noexcept;
    HostSegment& operator=(HostSegment&& other) noexcept;
    ~HostSegment();

    [[nodiscard]] SegmentHeader& header() const;
    [[nodiscard]] AbortCell& abort_cell() const;
    [[nodiscard]] Doorbell& doorbell(std::uint32_t local_rank) const;
    [[nodiscard]] LifeCell& life(std::uint32_t local_rank) const;
    [[nodiscard]] FlightRing& flight_ring(std::uint32_t local_rank) const;
    [[nodiscard]] TenancyTable& tenancy() const;
    [[nodiscard]] MutableBytes collective_area() const;
    [[nodiscard]] MutableBytes transport_area() const;
    [[nodiscard]] int descriptor() const { return fd_.get(); }

    /// Raises the abort cell unless somebody was first, and wakes every local rank. Any process.
    /// Returns whether this call was the first.
    bool raise_abort(std::int32_t code, std::uint32_t rank, std::string_view text) const;
    /// Marks a rank departed, counts it, and wakes every local rank.
    void mark_departed(std::uint32_t local_rank) const;
    /// The same for a rank on another host, by whoever hears of it there. One that the segment has
    /// no room for is passed over.
    void mark_departed_elsewhere(std::uint32_t world_rank) const;
    [[nodiscard]] bool has_departed_elsewhere(std::uint32_t world_rank) const;
    /// How the functions above reach a rank that sleeps on descriptors: writes its eventfd.
    /// Set by who has the eventfds, before other threads use the mapping.
    void set_wake_descriptor(std::function<void(std::uint32_t local_rank)> wake);

  private:
    HostSegment(Fd fd, MutableBytes bytes);
    /// Null: no room for it.
    [[nodiscard]] std::atomic<std::uint8_t>* departed_elsewhere(std::uint32_t world_rank) const;
    void wake_all() const;

    Fd fd_;
    MutableBytes bytes_;
    std::function<void(std::uint32_t local_rank)> wake_descriptor_;
};

/// Bytes that transports/shm needs for so many local ranks. Sparse: untouched pages cost nothing.
/// A test of the runtime checks it against the transport's own layout.
[[nodiscard]] std::uint64_t transport_area_size_bytes(std::uint32_t local_size);
/// The same, for the collectives.
[[nodiscard]] std::uint64_t collective_area_size_bytes(std::uint32_t local_size);

}  // namespace dlrt
