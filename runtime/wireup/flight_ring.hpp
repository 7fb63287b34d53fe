// SPDX-License-Identifier: Apache-2.0
/// The flight ring: a rank's last operations, in memory that the daemon maps too, so that it can be
/// read while the rank runs, when it is stopped, and after it died.
///
/// One writer (the rank, under the engine's lock when several threads call); any number of readers,
/// which may see a record change under them and check `stamp` before and after, as with a sequence
/// lock.
#pragma once

#include "runtime/base/bytes.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// What a rank may be inside of. The numbers are part of the segment's version.
enum class Call : std::uint8_t {
    none = 0,
    init,
    finalize,
    send,
    ssend,
    recv,
    sendrecv,
    isend,
    issend,
    irecv,
    start,
    wait,
    wait_any,
    wait_some,
    wait_all,
    test,
    probe,
    iprobe,
    mprobe,
    improbe,
    mrecv,
    imrecv,
    cancel,
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    reduce_scatter,
    alltoall,
    scan,
    exscan,
    gatherv,
    scatterv,
    allgatherv,
    reduce_scatterv,
    alltoallv,
    alltoallw,
    neighbor_allgather,
    neighbor_alltoall,
    group_end,
    comm_dup,
    comm_split,
    comm_create,
    comm_free,
    abort,
};

/// Name as a user writes it, such as "recv".
[[nodiscard]] std::string_view call_name(Call call);

/// Whether all ranks of a communicator make the call together, and its place has the operation's
/// number for a tag.
[[nodiscard]] constexpr bool is_of_collective(Call call) {
    return call >= Call::barrier && call <= Call::neighbor_alltoall;
}

/// failed: the ranks of a collective made different calls; its communicator is of no more use.
enum class FlightState : std::uint8_t { entered = 1, waiting = 2, finished = 3, failed = 4 };

/// Which other ranks an operation is about: one number, so that one store writes it.
struct FlightPlace {
    std::int32_t peer = -1;  ///< Rank in that communicator; -1 none, -2 any.
    std::int32_t tag = 0;

    [[nodiscard]] std::uint64_t packed() const {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(tag)) << 32 |
               static_cast<std::uint32_t>(peer);
    }
    [[nodiscard]] static FlightPlace of(std::uint64_t packed) {
        return {
            static_cast<std::int32_t>(static_cast<std::uint32_t>(packed)),
            static_cast<std::int32_t>(static_cast<std::uint32_t>(packed >> 32))};
    }
};

/// 64 bytes. Fields are plain because a torn record is detected by `stamp`.
struct alignas(cache_line_bytes) FlightRecord {
    std::atomic<std::uint32_t> stamp;  ///< Low 32 bits of sequence + 1 when the record is whole,
                                       ///< else 0; the sequence numbers a rank's operations from 0.
    Call call;
    FlightState state;
    std::uint16_t reserved;
    std::uint64_t context;         ///< Communicator's context id.
    std::uint64_t arguments_hash;  ///< Count, type, tag, root: equal calls have equal hashes.
    std::uint64_t size_bytes;
    std::uint64_t place;             ///< See FlightPlace.
    std::uint64_t waiting_since_ns;  ///< CLOCK_MONOTONIC when it began to wait, if it does.
};
static_assert(sizeof(FlightRecord) == cache_line_bytes);

inline constexpr std::uint32_t flight_record_count = 256;

struct alignas(no_sharing_bytes) FlightRing {
    std::atomic<std::uint64_t> next_sequence;  ///< Operations entered so far.
    alignas(no_sharing_bytes) std::array<FlightRecord, flight_record_count> records;
};

/// Copies out the newest records, oldest first, at most `count_max`; torn ones are left out.
struct FlightEntry {
    Call call;
    FlightState state;
    std::uint64_t context, sequence, arguments_hash, size_bytes;
    std::int32_t peer, tag;
    std::uint64_t waiting_since_ns;  ///< 0 unless it waits.
};
[[nodiscard]] std::vector<FlightEntry> read_flight_ring(
    const FlightRing& ring, std::uint32_t count_max
);

/// One line for people: "recv #41 from rank 3, tag 7, 8 bytes: waiting for 2.1 s".
[[nodiscard]] std::string describe(const FlightEntry& entry, std::uint64_t now_ns);

}  // namespace dlrt
