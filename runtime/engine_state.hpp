// SPDX-License-Identifier: Apache-2.0
/// What is behind the Engine: its data, and the protocols that move a message. Private to
/// runtime/engine*.cpp, protocol_*.cpp and waiter.cpp.
///
/// Thread: one at a time; with ThreadMode::multiple, who holds the Waiter's lock.
#pragma once

#include "runtime/calls_elsewhere.hpp"
#include "runtime/engine.hpp"
#include "runtime/host_event.hpp"
#include "runtime/host_notes.hpp"
#include "runtime/match.hpp"
#include "runtime/message_store.hpp"
#include "runtime/peer_table.hpp"
#include "runtime/request_state.hpp"
#include "runtime/waiter.hpp"
#include "runtime/wire_header.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// A wait for what another rank of the host writes.
struct HostWait {
    EngineState* state;
    const HostEvent* event;
    Errc error = Errc::ok;
    WorldRank lost = no_rank;
    bool is_told = false;

    /// True once it has come, or can't.
    static bool is_over(void* wait);
};

class EngineState final : public Progress {
  public:
    explicit EngineState(Engine::Options options);

    // ---- protocol_send.cpp ----

    /// The short path: posts a small message without a request. False when it must take the long
    /// one.
    [[nodiscard]] bool try_send_eager(SendMode mode, Route to, const ConstBuffer& buffer);
    [[nodiscard]] Request& make_send(SendMode mode, Route to, const ConstBuffer& buffer);
    /// Makes a request and starts it; what takes the short path is complete at once.
    [[nodiscard]] Request& post_send(SendMode mode, Route to, const ConstBuffer& buffer);
    /// The message of a collective.
    [[nodiscard]] Request& post_checked_send(
        Route to, const ConstBuffer& buffer, std::uint32_t check
    );
    void start_send(Request& request);
    /// Posts what transports were too busy for. Returns whether anything went.
    bool advance_backlog();
    /// Posts pieces of the messages being streamed. Returns whether anything went.
    bool advance_streams();
    /// Posts a control message now or, when the transport is busy, later.
    void send_control(Peer& peer, MessageHeader header, Bytes body);

    // ---- protocol_receive.cpp ----

    [[nodiscard]] Request& make_receive(Route from, const Buffer& buffer);
    /// The same, and started.
    [[nodiscard]] Request& post_receive(Route from, const Buffer& buffer);
    /// The message of a collective.
    [[nodiscard]] Request& post_checked_receive(
        Route from, const Buffer& buffer, std::uint32_t check
    );
    void start_receive(Request& request);
    /// Receives into the request what a probe has taken out, and frees it.
    void receive_matched(Request& request, MatchedMessage& message);
    /// Reads the next slice of a message out of a sender's memory. Returns whether anything moved.
    bool advance_reads();
    [[nodiscard]] bool has_receive_to_come(ContextId context);
    /// Drops the messages of a context that nobody will receive; returns how many. None where a
    /// persistent receive is left that may be started.
    std::uint64_t drop_context(ContextId context);

    // ---- engine_task.cpp ----

    [[nodiscard]] Request& make_task_request(EngineTask& task);
    void start_task(Request& request);
    /// Returns whether any has moved.
    bool advance_tasks();
    /// Of a blocking call, from its beginning to its end.
    void enter_task(EngineTask& task) { blocking_tasks_.push_back(&task); }
    void leave_task(EngineTask& task) { std::erase(blocking_tasks_, &task); }
    [[nodiscard]] bool has_calls_to_compare() const override {
        return !tasks_.empty() || !blocking_tasks_.empty() || !host_waits_.empty();
    }
    void compare_calls() override;
    [[nodiscard]] bool is_told_of_disagreement() const override;
    void begin_long_wait() override;
    void end_long_wait() override;
    /// This rank has found one.
    void tell_of_disagreement();
    [[nodiscard]] bool has_long_waiters() const {
        return notes_ != nullptr && notes_->long_waiters.load(std::memory_order_relaxed) != 0;
    }
    /// Null for one on another host.
    [[nodiscard]] const FlightRing* flight_ring_of(WorldRank rank) const;
    /// Whether a rank has called that operation of the context or a later one. Empty when it isn't
    /// known, since one on another host hasn't answered.
    [[nodiscard]] std::optional<bool> has_come(
        WorldRank rank, ContextId context, std::int32_t number
    ) const;
    /// Whether a rank is known to have freed that communicator without calling the operation.
    [[nodiscard]] bool has_freed(WorldRank rank, ContextId context, std::int32_t number) const;
    /// The call of a rank that has that operation number in the context, or has failed there. Empty
    /// when it isn't known (yet, or any more); one on another host must be asked.
    [[nodiscard]] std::optional<FlightEntry> find_call(
        WorldRank rank, ContextId context, std::optional<std::int32_t> number
    ) const;

    // ---- protocol_inquiry.cpp ----

    [[nodiscard]] bool is_elsewhere(WorldRank rank) const;
    /// See EngineInside::ask().
    void ask_for_call(const CallsElsewhere::Question& question, AskAgain again);
    void tell_of_failed_call(WorldRank rank, ContextId context, std::int32_t number);
    [[nodiscard]] bool awaits_reports() const { return calls_elsewhere_.has_silent(); }
    /// A task waits for a report and for the time that it gives it, whatever happens.
    void begin_suspicion() { ++suspicion_count_; }
    void end_suspicion() { --suspicion_count_; }

    // ---- engine_state.cpp ----

    /// Gives a complete request back.
    void release(Request& request) {
        if (request.kind == RequestKind::task) [[unlikely]] {
            release_task(request);
        } else {
            requests.release(request);
        }
    }
    /// Polls without a pause that a blocking call begins with: about 1 us, none on a shared core.
    [[nodiscard]] std::uint32_t quick_polls() const { return shares_core_ ? 0 : 50; }

    bool progress() override;
    [[nodiscard]] bool has_arrivals() override;  ///< Then it rings senders.
    [[nodiscard]] bool has_unfinished_posts() const override;
    [[nodiscard]] bool has_new_work() const override {
        return starts_ != starts_seen_ || has_unfinished_posts();
    }
    [[nodiscard]] bool needs_progress() const override;
    /// By who waits: when nobody else is left, a receive from any rank fails too.
    void check_world() override;
    /// By who only polls, and may still send something to itself: quick where nothing has happened.
    void look_around();
    /// After a poll in vain. REQUIRES: locked.
    [[nodiscard]] bool should_yield_after_poll() {
        return poll_pace_.should_yield(waiter.event_count());
    }
    /// Whether a blocking wait has found that all other ranks have gone.
    [[nodiscard]] bool is_left_alone() const { return is_left_alone_; }
    void note_missed_by_all();
    /// REQUIRES: locked.
    void wait_for(HostWait& wait);
    void ring(std::uint32_t local_rank);
    void write_doorbell_descriptor(std::uint32_t local_rank) {
        write_doorbell_descriptor_(local_rank);
    }
    /// The first departed rank that the event needs.
    [[nodiscard]] WorldRank find_lost(const HostEvent& event) const;
    [[nodiscard]] HostSegment* segment() const { return segment_; }
    [[nodiscard]] std::span<const WorldRank> world_rank_of_local() const {
        return world_rank_of_local_;
    }
    [[nodiscard]] RingFence ring_fence() const { return ring_fence_; }
    /// Tells the launcher, once this rank ends, that it has waited for a departed rank.
    void note_missed(WorldRank rank);

    void start(Request& request);
    /// Ends a round of the operation; afterwards the request may be gone if it had been released.
    void complete(Request& request, Errc error);
    /// Ends a receive that nothing has arrived for.
    void cancel_receive(Request& request);
    /// Takes an active request out of wherever it is and ends it with an error that all can read.
    void fail_request(Request& request, Errc error);
    [[nodiscard]] bool has_departed(WorldRank rank) const {
        return rank >= 0 && peer_of(rank).has_departed;
    }
    /// "has ended without finalizing", or more where more is known of a departed rank.
    [[nodiscard]] std::string_view departure_of(WorldRank rank) const;
    [[nodiscard]] bool has_seen_abort() const { return has_seen_abort_; }
    /// Of a probe that waits, from its beginning to its end.
    void begin_probe(WorldRank rank) { probing_.push_back(rank); }
    void end_probe(WorldRank rank) { probing_.erase(std::ranges::find(probing_, rank)); }
    /// A probe has found nothing from there, or from any rank.
    void note_probed(WorldRank rank) {
        (rank == any_source ? is_any_probed_for_ : peer_of(rank).is_probed_for) = true;
    }
    /// Messages to others that are not handed over yet.
    [[nodiscard]] bool has_outgoing() const {
        return active_sends_ != 0 || !backlogged_.empty() || !tasks_.empty();
    }

    [[nodiscard]] Peer& peer_of(WorldRank rank) { return peers_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const Peer& peer_of(WorldRank rank) const {
        return peers_[static_cast<std::size_t>(rank)];
    }

    Matcher matcher;
    RequestPool requests;
    MessageStore store;
    Waiter waiter;

  private:
    enum class Posted : std::uint8_t { yes, busy };

    // protocol_send.cpp
    [[nodiscard]] bool is_eager_size(const Peer& peer, std::uint64_t size_bytes) const {
        if (size_bytes > peer.eager_bytes_max) return false;
        return protocol_rules_.empty() ||
               choose_protocol(protocol_rules_, size_bytes, Protocol::eager, true) ==
                   Protocol::eager;
    }
    bool send_eager(SendMode mode, Route to, const ConstBuffer& buffer, std::uint32_t check);
    [[nodiscard]] Request& sent_at_once(Route to);
    Posted try_post(Peer& peer, Request& request);
    Posted post_announcement(Peer& peer, Request& request);
    [[nodiscard]] Bytes data_of(const Request& request, std::uint64_t begin, std::uint64_t size);
    void on_cts(Bytes payload, RequestToken token);
    void on_fin(RequestToken token);
    bool stream(Request& request);
    void note_posted(Peer& peer);
    void add_to_backlog(Peer& peer);
    bool flush(Peer& peer);
    void finish_post(Request& request);
    void post_done(const Completion& completion);

    // protocol_receive.cpp
    [[nodiscard]] Request& new_receive(Route from, const Buffer& buffer);
    void begin_receive(Request& request);
    void dispatch(EndpointSlot& slot, const Arrival& arrival);
    void on_eager(Peer& peer, const Arrival& arrival);
    void on_rts(Peer& peer, const Arrival& arrival);
    void on_fragment(const Arrival& arrival);
    /// Whether the message belongs to another operation than the one that receives it.
    [[nodiscard]] static bool disagrees(const Request& request, std::uint32_t check) {
        // Users' messages have none.
        if (check == 0 && !request.has_check) [[likely]]
            return false;
        return request.own_check() != check;
    }
    void end_in_mismatch(Request& request, const MatchKey& found);
    void refuse_announced(Request& request, const MatchKey& found, const RtsBody& body);
    void take_eager(Request& request, const MatchKey& found, Bytes payload);
    void take_announced(Request& request, const MatchKey& found, const RtsBody& body);
    void ask_for_stream(Peer& peer, Request& request);
    void finish_read(Request& request);
    void give_credit(Peer& peer, std::uint64_t size_bytes);
    void place(Request& request, std::uint64_t begin, Bytes payload);
    [[nodiscard]] Traffic traffic_with(const Peer& peer) const;
    [[nodiscard]] bool should_read(
        const Peer& peer, const RemoteMemory& memory, std::uint64_t size_bytes
    ) const;

    // protocol_inquiry.cpp
    [[nodiscard]] CallReport report_of_call(ContextId context, std::int32_t number) const;
    void send_report(Peer& peer, ContextId context, const CallReport& report);
    void on_inquiry(Peer& peer, MessageHeader header);
    void on_report(const Peer& peer, const Arrival& arrival);

    // engine_state.cpp
    /// The part of complete() that is the same for sends and receives.
    void end_round(Request& request, Errc error) {
        request.stage = Stage::idle;
        request.error = static_cast<std::uint8_t>(error);
        waiter.note_event();
        // Pairs with is_complete(), which other threads call without the lock.
        request.is_done.store(true, std::memory_order_release);
        if (request.is_released) [[unlikely]]
            release(request);
    }
    void release_task(Request& request);
    void open_peers(const Engine::Options& options);
    bool take_completions(EndpointSlot& slot);
    /// Whether one that another thread waits for has come: it must be told.
    bool find_host_events();
    /// Whether something failed by it.
    bool find_departed();
    /// Of other hosts: what transports and the segment say since the last look.
    void find_departed_elsewhere();
    void note_departed_elsewhere(WorldRank rank, std::string how);
    [[nodiscard]] bool has_departures() const {
        return departures_seen_ != 0 || !departed_elsewhere_.empty();
    }
    /// Whether something failed by it.
    bool fail_for(WorldRank departed);
    [[nodiscard]] bool are_all_others_gone() const;
    /// Has transports watch the ranks of other hosts that this one waits for.
    void watch_awaited();
    void watch_some_of_all();
    /// Whether there were any.
    bool fail_those_who_need(WorldRank rank, Errc error);

    static constexpr std::size_t batch = 32;

    /// Calls that may have left something for progress(), and how many of them it has seen: who
    /// owns progress doesn't sleep over one that another thread made.
    std::uint64_t starts_ = 0;
    std::uint64_t starts_seen_ = 0;
    std::vector<EndpointSlot> slots_;
    std::vector<ProtocolRule> protocol_rules_;
    std::vector<Peer> peers_;  ///< By world rank. They never move.
    std::vector<Peer*> backlogged_;
    RequestQueue streaming_;
    std::uint64_t stream_round_ = 0;
    RequestQueue reading_;
    std::vector<Request*> tasks_;  ///< In the order of starting.
    std::vector<EngineTask*> blocking_tasks_;
    std::uint64_t events_of_tasks_ = 0;  ///< What they have been advanced after.
    bool has_unfinished_task_ = false;
    std::vector<std::byte> scratch_;  ///< Packed data on its way to a transport.
    struct HeldScratch {
        RequestToken owner;
        std::vector<std::byte> bytes;
    };
    std::vector<HeldScratch> held_scratch_;  ///< Packed data that pending posts still use.
    std::uint64_t active_sends_ = 0;
    std::uint64_t filling_count_ = 0;  ///< Receives in that stage.
    std::array<Arrival, batch> arrivals_;
    WorldRank rank_;
    HostSegment* segment_;
    std::vector<WorldRank> world_rank_of_local_;
    RingFence ring_fence_;
    std::function<void(std::uint32_t)> write_doorbell_descriptor_;
    std::vector<HostWait*> host_waits_;
    HostNotes* notes_ = nullptr;  ///< Null without a segment.
    std::uint32_t disagreements_seen_ = 0;
    bool shares_core_;
    PollPace poll_pace_;
    std::uint32_t departures_seen_ = 0;
    std::vector<Endpoint*> ways_elsewhere_;                ///< To ranks on other hosts.
    std::map<WorldRank, std::string> departed_elsewhere_;  ///< And how.
    CallsElsewhere calls_elsewhere_;
    std::uint32_t suspicion_count_ = 0;
    bool has_seen_abort_ = false;
    bool is_left_alone_ = false;
    std::vector<WorldRank> probing_;  ///< By threads that wait.
    bool is_any_probed_for_ = false;  ///< As Peer::is_probed_for and
    bool was_any_awaited_ = false;    ///< Peer::was_awaited.
};

}  // namespace dlrt
