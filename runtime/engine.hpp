// SPDX-License-Identifier: Apache-2.0
/// The engine: owns transports and requests, matches messages, and is the only place that makes
/// progress and the only place that waits.
///
/// Threads: below ThreadMode::multiple one thread at a time calls, and nothing is locked. With
/// multiple, any thread may call anything; one of the waiting threads owns progress and sleeps on
/// the doorbell, the others sleep on their own request, and ownership is handed over when the owner
/// is done.
///
/// Ranks here are *world* ranks; communicators translate before they call.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/export.hpp"
#include "runtime/base/protocol_rule.hpp"
#include "runtime/base/status.hpp"
#include "runtime/layout.hpp"
#include "runtime/request.hpp"
#include "runtime/wait_budget.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "transports/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dlrt {

class EngineInside;
class EngineState;
class EngineTask;
class FlightRecorder;
class RequestPool;
struct HostEvent;

enum class ThreadMode : std::uint8_t { single, multiple };
enum class SendMode : std::uint8_t { standard, synchronous };

/// Where the other side of an operation is. A context separates communicators, and within one the
/// user's messages from those of collectives.
struct Route {
    ContextId context{};
    WorldRank peer = any_source;  ///< any_source only for receives and probes.
    Tag tag = any_tag;  ///< any_tag only for receives and probes; never matches nothing else.
};

/// A user's buffer: `count` elements of `layout` at `address`. The engine keeps a reference on the
/// layout as long as the operation lives.
struct ConstBuffer {
    const void* address = nullptr;
    std::uint64_t count = 0;
    const LayoutRef* layout = nullptr;
};
struct Buffer {
    void* address = nullptr;
    std::uint64_t count = 0;
    const LayoutRef* layout = nullptr;
};

/// A message taken out of matching by a matched probe, to be received once.
struct MatchedMessage;

class DLRT_CORE Engine {
  public:
    /// How to reach one world rank: an endpoint of `endpoints` and the peer's number there.
    struct PeerRoute {
        std::uint32_t endpoint = 0;
        PeerIndex index{};
    };
    /// What one process needs to take part. See wireup_source.hpp for where it comes from.
    struct Options {
        WorldRank rank = 0;
        std::uint32_t local_rank = 0;
        HostSegment* segment = nullptr;  ///< Not owned; outlives the engine. Doorbell, abort, life,
                                         ///< flight ring.
        int doorbell_descriptor = -1;    ///< This rank's eventfd; used when an endpoint sleeps on a
                                         ///< descriptor.
        RingFence ring_fence = RingFence::full;
        std::vector<std::unique_ptr<Endpoint>> endpoints;
        std::vector<std::uint32_t> endpoints_elsewhere;  ///< Those that lead to other hosts.
        std::vector<PeerRoute> routes;                   ///< By world rank.
        std::vector<WorldRank> world_rank_of_local;      ///< By local rank: names departed ranks.
        /// Wakes a rank of the host that sleeps on descriptors (Doorbell::ring said so).
        std::function<void(std::uint32_t local_rank)> write_doorbell_descriptor;
        WaitBudget wait_budget;
        /// Its current record is stamped when a wait stops spinning. Not owned; may be null.
        FlightRecorder* flight_recorder = nullptr;
        std::optional<std::uint32_t> eager_bytes_max;  ///< At most; unset: the transports' limits.
        std::vector<ProtocolRule> protocol_rules;      ///< DLRT_PROTO.
        std::uint32_t first_request_generation = 0;    ///< See RequestPool.
    };
    explicit Engine(Options options);
    ~Engine();

    /// Raising the mode is allowed at any time while no other thread is inside; lowering is not.
    void set_thread_mode(ThreadMode mode);

    // Blocking forms: no allocation, return when the buffer may be reused / holds the data.
    Status send(SendMode mode, Route to, const ConstBuffer& buffer);
    Status recv(Route from, const Buffer& buffer, MessageStatus& status);
    /// Starts the receive before the send, completes both.
    Status sendrecv(
        Route to, const ConstBuffer& source, Route from, const Buffer& target, MessageStatus& status
    );

    // Nonblocking forms. A request is owned by the caller until release().
    [[nodiscard]] Request* isend(SendMode mode, Route to, const ConstBuffer& buffer);
    [[nodiscard]] Request* irecv(Route from, const Buffer& buffer);

    // Persistent forms: made inactive; start() begins one round.
    [[nodiscard]] Request* send_init(SendMode mode, Route to, const ConstBuffer& buffer);
    [[nodiscard]] Request* recv_init(Route from, const Buffer& buffer);
    Status start(Request* request);
    /// One that has no other side: complete from the beginning, and once started if persistent.
    [[nodiscard]] Request* without_peer(RequestKind kind, Persistence persistence);

    /// True when complete; makes progress once if it isn't. An inactive request counts as complete.
    [[nodiscard]] bool test(Request* request);
    void wait(Request* request);
    /// Waits until at least one is complete (or all are inactive). Null entries are allowed.
    void wait_any(std::span<Request* const> requests);
    void wait_all(std::span<Request* const> requests);
    /// The same, but they stay active until each is waited for or released.
    void wait_until_complete(std::span<Request* const> requests);
    /// Waits until `done` returns true; it is called from this thread only, after progress. For
    /// callers whose condition is not a request (schedule runner, finalize).
    void wait_until(const std::function<bool()>& done);

    /// Runs one round of a task from its beginning to its end. The task stays the caller's.
    Status run(EngineTask& task);
    /// A request for one round of the task, which has begun; or for as many as are started. The
    /// task outlives the request and learns of its end by retire().
    [[nodiscard]] Request* start_task(EngineTask& task);
    [[nodiscard]] Request* task_init(EngineTask& task);

    /// Waits until it has come. Errc::aborted, or Errc::peer_lost and who it is that has gone, when
    /// it can't come any more.
    [[nodiscard]] Errc wait_for_host(const HostEvent& event, WorldRank& lost);
    /// Whether ranks of the host have waited in collectives for some time (see HostNotes).
    [[nodiscard]] bool has_long_waiters() const;
    /// Calls `look` with the lock held.
    void look_inside(const std::function<void(EngineInside&)>& look);
    /// Wakes a rank of the host, after something was written that it may wait for.
    void ring(std::uint32_t local_rank);
    /// Of a rank whose Doorbell::ring() has asked for it.
    void write_doorbell_descriptor(std::uint32_t local_rank);
    /// Polls that a blocking call begins with; none where ranks share a core.
    [[nodiscard]] std::uint32_t quick_polls() const;
    /// Null where there is none.
    [[nodiscard]] HostSegment* segment() const;
    /// By local rank.
    [[nodiscard]] std::span<const WorldRank> world_rank_of_local() const;
    [[nodiscard]] RingFence ring_fence() const;

    /// Cancels a receive that has not matched; afterwards it completes, cancelled or not.
    Status cancel(Request* request);
    /// Gives a request back. One still active completes by itself first (the user said he doesn't
    /// care).
    void release(Request* request);
    /// Null entries are allowed. REQUIRES: the others are complete.
    void release_all(std::span<Request* const> requests);
    /// Where the tokens lead that a surface's handles are made of.
    [[nodiscard]] RequestPool& requests();

    /// Looks for a message without taking it. False: none now.
    [[nodiscard]] bool iprobe(Route from, MessageStatus& status);
    void probe(Route from, MessageStatus& status);
    /// Takes it out of matching. Null: none now.
    [[nodiscard]] MatchedMessage* improbe(Route from, MessageStatus& status);
    [[nodiscard]] MatchedMessage* mprobe(Route from, MessageStatus& status);
    [[nodiscard]] Request* imrecv(MatchedMessage* message, const Buffer& buffer);
    Status mrecv(MatchedMessage* message, const Buffer& buffer, MessageStatus& status);

    /// One bounded round of progress; where it finds nothing, a look at who has departed or
    /// aborted. Returns whether anything happened.
    bool progress();
    /// The same by who polls for something; where ranks share a core, he lets others have it after
    /// some polls in vain.
    void poll();

    /// For a thread of its own: makes progress while nobody else does and something needs it, else
    /// sleeps, until stop_helping() is called. REQUIRES: ThreadMode::multiple, a host segment.
    void help();
    void stop_helping();

    /// Called when a communicator goes away: unexpected messages of its contexts are dropped and
    /// counted.
    [[nodiscard]] std::uint64_t drop_context(ContextId context);

    /// Whether messages of this rank are not handed over yet: sends that aren't complete (released
    /// ones too), and what transports were too busy for. Finalize waits until there are none.
    [[nodiscard]] bool has_outgoing() const;
    /// Bytes that messages without a receive occupy now.
    [[nodiscard]] std::uint64_t unexpected_bytes() const;

  private:
    std::unique_ptr<EngineState> state_;
};

}  // namespace dlrt
