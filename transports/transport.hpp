// SPDX-License-Identifier: Apache-2.0
/// The contract between the engine and whatever moves bytes to peers.
///
/// A transport knows peers and bytes; it knows no rank, tag, communicator or schedule. The engine
/// opens one Endpoint per transport and process. One thread at a time calls into an Endpoint (the
/// engine guarantees it). No function blocks, none calls back: what has happened is taken out with
/// poll() when the engine wants it.
///
/// Order: what one peer is sent (eager messages and fragments together) arrives in the order of the
/// successful posts. Nothing is said about the order between peers. A get is ordered with nothing.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/status.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// The other side as this transport numbers it (for shm and loopback: the local rank).
enum class PeerIndex : std::uint32_t {};

/// Chosen by the engine, returned in the completion of that post.
enum class OperationId : std::uint64_t {};

/// 16 bytes that the transport carries with every message and doesn't look into. Passed in
/// registers.
struct MessageHeader {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    friend bool operator==(const MessageHeader&, const MessageHeader&) = default;
};
static_assert(sizeof(MessageHeader) == 16);

enum class Post : std::uint8_t {
    done,     ///< Handed over; the buffers may be reused (a get: the data is there).
    pending,  ///< Accepted; the buffers stay in use until poll_completions() yields the id.
    busy,     ///< Nothing was done; try again after a later poll().
    refused,  ///< Nothing was done and never will be to this peer by this means: choose another.
};

/// A peer's memory, as the peer described it (see Endpoint::describe).
struct RemoteMemory {
    std::uint64_t address = 0;
    std::uint64_t key = 0;
};

/// Whoever copies a payload of 1 KiB or more out takes plain_copy() of
/// runtime/base/stream_copy.hpp: glibc's memcpy can be eight times slower from shared pages to
/// memory that malloc gave.
struct Arrival {
    PeerIndex peer{};
    MessageHeader header;
    Bytes payload;  ///< Valid until the next call of poll() on this endpoint.
};

struct Completion {
    OperationId id{};
    Status status;
};

/// A peer that can't be reached any more: what was said to it and hasn't arrived is lost.
struct Loss {
    PeerIndex peer{};
    std::string reason;  ///< What has happened, with both ends' addresses.
};

/// How a message beyond the eager size should travel. The names are those of DLRT_PROTO.
enum class LargeProtocol : std::uint8_t { rendezvous_read, rendezvous_stream };

/// What else the two processes are doing, as far as the engine knows: the best way differs by it.
enum class Traffic : std::uint8_t { one_way, exchange, all_busy };

struct Capabilities {
    std::uint32_t eager_bytes_max = 0;     ///< Largest payload of post_eager.
    std::uint32_t fragment_bytes_max = 0;  ///< Largest payload of post_fragment.
    bool can_get = false;                  ///< post_get is worth a try.
    int sleep_descriptor = -1;  ///< To be watched while asleep; -1: the doorbell is rung instead.
};

class Endpoint {
  public:
    virtual ~Endpoint() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;  ///< "shm", "loopback", …
    [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

    /// Sends header and payload as one message, buffered by the transport: the payload may be
    /// reused on `done`. Returns done or busy, never pending. Rings the peer's doorbell when it may
    /// be asleep. REQUIRES: payload.size() <= capabilities().eager_bytes_max.
    [[nodiscard]] virtual Post post_eager(PeerIndex peer, MessageHeader header, Bytes payload) = 0;

    /// As post_eager, for a piece of a large message whose receiver is known to be taking it: made
    /// for throughput, a stream of fragments is pipelined. Returns done, pending or busy. REQUIRES:
    /// payload.size() <= capabilities().fragment_bytes_max.
    [[nodiscard]] virtual Post post_fragment(
        PeerIndex peer, MessageHeader header, Bytes payload, OperationId id
    ) = 0;

    /// Describes local memory so that the peer's post_get can read it, as long as the caller keeps
    /// it.
    [[nodiscard]] virtual RemoteMemory describe(Bytes memory) = 0;

    /// Reads target.size() bytes from the peer's memory. Returns done, pending, busy, or refused
    /// when the system forbids it (then also at any later time: the caller falls back, silently). A
    /// peer that has died shows as refused as well.
    [[nodiscard]] virtual Post post_get(
        PeerIndex peer, RemoteMemory source, MutableBytes target, OperationId id
    ) = 0;

    /// Whether post_get of so many bytes of that memory only loads them: no other way is as good.
    [[nodiscard]] virtual bool can_load(
        PeerIndex peer, const RemoteMemory& memory, std::uint64_t size_bytes
    ) = 0;

    /// Fills `out` with messages that arrived; returns how many. Releases the payloads of the
    /// previous call.
    [[nodiscard]] virtual std::size_t poll(std::span<Arrival> out) = 0;

    /// Fills `out` with finished pending posts; returns how many.
    [[nodiscard]] virtual std::size_t poll_completions(std::span<Completion> out) = 0;

    /// True when poll() or poll_completions() would yield something now, or a post that was busy
    /// may go; whoever makes it so rings. Cheap; called between announcing a sleep and sleeping.
    [[nodiscard]] virtual bool has_work() = 0;

    /// How a message of this size should travel to that peer, from the table of this host.
    [[nodiscard]] virtual LargeProtocol choose_large(
        PeerIndex peer, std::uint64_t size_bytes, Traffic traffic
    ) const = 0;

    /// Good size for the fragments of a message of this size: 1..fragment_bytes_max.
    [[nodiscard]] virtual std::uint32_t fragment_bytes(std::uint64_t message_size_bytes) const = 0;

    /// A loss that this hasn't told of yet; all that came from that peer before has been polled.
    /// Transports within a host know of none: there the host segment says who has gone.
    [[nodiscard]] virtual std::optional<Loss> take_loss() { return std::nullopt; }

    /// Whether watch() is to be called now for each peer that somebody waits for: every few
    /// seconds, where nobody else tells of peers that have gone. Called before each sleep; wakes
    /// the sleeper when it becomes true.
    [[nodiscard]] virtual bool is_time_to_watch() { return false; }
    /// From now on take_loss() tells when that peer goes, also if nothing is ever sent to it.
    virtual void watch(PeerIndex) {}
};

}  // namespace dlrt
