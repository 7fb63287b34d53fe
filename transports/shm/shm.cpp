// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/shm.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"
#include "transports/shm/area.hpp"
#include "transports/shm/cell_pool.hpp"
#include "transports/shm/cross_memory.hpp"
#include "transports/shm/inbound.hpp"
#include "transports/shm/outbound.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace dlrt::shm {
namespace {

constexpr std::uint32_t eager_bytes_max = 8 * 1024;
/// Peers that are looked at in every poll; of the others so many again, in turn.
constexpr std::size_t hot_peers_max = 8;
constexpr std::size_t cold_peers_per_poll = 8;

/// For up to 40 bytes: two overlapping moves instead of a call.
inline void copy_inline(std::byte* target, const std::byte* source, std::size_t size) {
    if (size >= 16) {
        std::memcpy(target, source, 16);
        if (size > 32) std::memcpy(target + 16, source + 16, 16);
        std::memcpy(target + size - 16, source + size - 16, 16);
    } else if (size >= 8) {
        std::memcpy(target, source, 8);
        std::memcpy(target + size - 8, source + size - 8, 8);
    } else if (size >= 4) {
        std::memcpy(target, source, 4);
        std::memcpy(target + size - 4, source + size - 4, 4);
    } else {
        for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
    }
}

class ShmEndpoint final : public Endpoint {
  public:
    explicit ShmEndpoint(Options options);
    ~ShmEndpoint() override;

    [[nodiscard]] std::string_view name() const override { return "shm"; }
    [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
    [[nodiscard]] Post post_eager(PeerIndex peer, MessageHeader header, Bytes payload) override;
    [[nodiscard]] Post post_fragment(
        PeerIndex peer, MessageHeader header, Bytes payload, OperationId id
    ) override;
    [[nodiscard]] RemoteMemory describe(Bytes memory) override {
        const OwnHeap* const own = options_.own_heap;
        const std::byte* const heap = own != nullptr ? own->find(memory) : nullptr;
        // From both together a peer knows where in the heap it is.
        return {
            .address = reinterpret_cast<std::uintptr_t>(memory.data()),
            .key = reinterpret_cast<std::uintptr_t>(heap),
        };
    }
    [[nodiscard]] Post post_get(
        PeerIndex peer, RemoteMemory source, MutableBytes target, OperationId id
    ) override;
    [[nodiscard]] bool can_load(
        PeerIndex peer, const RemoteMemory& memory, std::uint64_t size_bytes
    ) override {
        return find_in_heap(peer, memory, size_bytes) != nullptr;
    }
    [[nodiscard]] std::size_t poll(std::span<Arrival> out) override;
    [[nodiscard]] std::size_t poll_completions(std::span<Completion>) override { return 0; }
    [[nodiscard]] bool has_work() override;
    [[nodiscard]] LargeProtocol choose_large(
        PeerIndex peer, std::uint64_t size_bytes, Traffic traffic
    ) const override;
    [[nodiscard]] std::uint32_t fragment_bytes(std::uint64_t message_size_bytes) const override;

  private:
    [[nodiscard]] static std::uint32_t number(PeerIndex peer) {
        return static_cast<std::uint32_t>(peer);
    }
    [[nodiscard]] Outbound& outbound(std::uint32_t peer) {
        Outbound& found = outbound_[peer];
        if (!found.is_open()) [[unlikely]]
            connect(found, peer);
        return found;
    }
    /// Null when it doesn't lie in the peer's heap, or that can't be had.
    [[nodiscard]] const std::byte* find_in_heap(
        PeerIndex peer, const RemoteMemory& memory, std::uint64_t size_bytes
    ) {
        if (memory.key == 0 || memory.address < memory.key) return nullptr;
        return peer_heaps_.find(number(peer), memory.address - memory.key, size_bytes);
    }
    [[gnu::noinline, gnu::cold]] void connect(Outbound& outbound, std::uint32_t peer);
    void accept_senders();
    /// The rest of post_eager(): the first message, a longer one, or the line must be waited for.
    [[nodiscard, gnu::noinline]] Post post_line(
        std::uint32_t peer, MessageHeader header, Bytes payload
    );
    [[nodiscard, gnu::noinline]] Post post_through_ring(
        Outbound& out, std::uint32_t peer, MessageHeader header, Bytes payload
    );
    static void fill_line(Outbound& out, Line* line, MessageHeader header, Bytes payload) {
        line->header = header;
        copy_inline(line->payload, payload.data(), payload.size());
        out.publish(line, LineKind::inlined, static_cast<std::uint32_t>(payload.size()));
    }
    /// As Doorbell::ring begins, but inlined: each message passes here, and finds its peer awake.
    [[nodiscard]] bool is_awake(std::uint32_t peer) const {
        const Doorbell& bell = options_.doorbells[peer];
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return !bell.needs_fence(options_.ring_fence) &&
               bell.sleeping.load(std::memory_order_seq_cst) ==
                   static_cast<std::uint32_t>(SleepKind::awake);
    }
    void ring(std::uint32_t peer) {
        if (!is_awake(peer)) [[unlikely]]
            ring_slowly(peer);
    }
    /// Ends a post: the peer is told, and when lines run out, time is taken to see what came free.
    [[gnu::noinline]] Post settle(Outbound& out, std::uint32_t peer) {
        ring(peer);
        if (out.is_low()) out.refresh();
        return Post::done;
    }
    [[gnu::noinline]] void ring_slowly(std::uint32_t peer) {
        if (options_.doorbells[peer].ring(options_.ring_fence) == SleepKind::descriptor) {
            options_.write_doorbell_descriptor(peer);
        }
    }
    /// Lets the peer know how far we are, and wakes it when it waits for that.
    void publish_credit(Inbound& inbound) {
        inbound.publish_credit();
        const Doorbell& bell = options_.doorbells[inbound.source()];
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (bell.needs_fence(options_.ring_fence) || inbound.is_awaited()) ring(inbound.source());
    }
    /// The post is to be tried again when this peer has given something back.
    [[gnu::noinline]] Post busy(std::uint32_t peer) {
        if (std::ranges::find(waiting_, peer) == waiting_.end()) waiting_.push_back(peer);
        outbound_[peer].wait_for_credit();
        return Post::busy;
    }
    /// Whoever asks for new messages will now try again what was busy.
    void look_at_credit();
    /// Takes from one peer what fits; returns how many.
    [[nodiscard]] std::size_t drain(Inbound& inbound, std::span<Arrival> out);
    [[nodiscard]] std::size_t poll_hot(std::span<Arrival> out);
    [[nodiscard]] std::size_t poll_cold(std::span<Arrival> out);
    [[nodiscard]] const CopyRow& row(std::uint64_t size_bytes) const;

    Options options_;
    Capabilities capabilities_;
    AreaLayout layout_;
    std::uint32_t session_;
    Card* card_;
    std::uint32_t sender_changes_ = 0;
    std::array<std::uint64_t, local_ranks_max / 64> senders_{};
    std::vector<Outbound> outbound_;
    std::vector<Inbound> inbound_;      ///< In the order in which peers appeared.
    std::vector<std::uint32_t> order_;  ///< Indexes into inbound_: the recently active first.
    std::size_t first_ = 0;             ///< Of the hot ones, looked at first.
    std::size_t cold_next_ = 0;
    std::size_t hot_victim_ = 0;
    std::uint32_t polls_ = 0;
    bool is_holding_payloads_ = false;    ///< The last poll handed some out.
    std::vector<std::uint32_t> waiting_;  ///< Peers to whom a post was busy.
    CellPool cells_;
    mutable CrossMemory cross_memory_;
    PeerHeaps peer_heaps_;
};

ShmEndpoint::ShmEndpoint(Options options)
    : options_(std::move(options)),
      layout_(options_.area.data(), options_.local_size),
      session_(++layout_.card(options_.local_rank).sessions),
      card_(&layout_.card(options_.local_rank)),
      outbound_(options_.local_size),
      cells_(layout_.cells(options_.local_rank)),
      cross_memory_(
          layout_, options_.local_rank, options_.local_size,
          options_.allow_cross_memory ? CrossMemory::Reading::allowed
                                      : CrossMemory::Reading::forbidden
      ),
      peer_heaps_(options_.local_size, options_.map_peer_heap) {
    capabilities_.eager_bytes_max = eager_bytes_max;
    capabilities_.fragment_bytes_max = AreaLayout::cell_bytes;
    capabilities_.can_get = cross_memory_.is_worth_a_try();
    inbound_.reserve(options_.local_size);
    accept_senders();
}

ShmEndpoint::~ShmEndpoint() {
    for (Outbound& outbound : outbound_) {
        if (outbound.is_open()) outbound.close();
    }
    for (Inbound& inbound : inbound_) inbound.close();
}

void ShmEndpoint::connect(Outbound& outbound, std::uint32_t peer) {
    const std::uint32_t self = options_.local_rank;
    outbound.open(layout_, peer, self, session_);
    const std::uint64_t bit = std::uint64_t{1} << self % 64;
    Card& card = layout_.card(peer);
    if ((card.senders[self / 64].fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
    // Partner: the acquire load in poll(). The first line is published after it.
    card.sender_changes.fetch_add(1, std::memory_order_release);
}

void ShmEndpoint::accept_senders() {
    sender_changes_ = card_->sender_changes.load(std::memory_order_acquire);
    for (std::uint32_t word = 0; word < senders_.size() && word * 64 < options_.local_size;
         ++word) {
        const std::uint64_t now = card_->senders[word].load(std::memory_order_relaxed);
        for (std::uint64_t fresh = now & ~senders_[word]; fresh != 0; fresh &= fresh - 1) {
            const auto source = word * 64 + static_cast<std::uint32_t>(std::countr_zero(fresh));
            if (source >= options_.local_size) break;
            order_.push_back(static_cast<std::uint32_t>(inbound_.size()));
            inbound_.emplace_back(layout_, options_.local_rank, source, session_);
        }
        senders_[word] = now;
    }
}

Post ShmEndpoint::post_eager(PeerIndex peer, MessageHeader header, Bytes payload) {
    DLRT_ASSERT(payload.size() <= eager_bytes_max);
    const std::uint32_t to = number(peer);
    Outbound& out = outbound_[to];
    // All calls are at the ends: so nothing has to be saved.
    if (payload.size() > inline_bytes_max || !out.has_line()) return post_line(to, header, payload);
    fill_line(out, out.next_line(), header, payload);
    if (!is_awake(to) || out.is_low()) [[unlikely]]
        return settle(out, to);
    return Post::done;
}

Post ShmEndpoint::post_line(std::uint32_t peer, MessageHeader header, Bytes payload) {
    Outbound& out = outbound(peer);
    if (payload.size() > inline_bytes_max) return post_through_ring(out, peer, header, payload);
    Line* line = out.claim();
    if (line == nullptr) return busy(peer);
    fill_line(out, line, header, payload);
    return settle(out, peer);
}

Post ShmEndpoint::post_through_ring(
    Outbound& out, std::uint32_t peer, MessageHeader header, Bytes payload
) {
    const auto size = static_cast<std::uint32_t>(payload.size());
    Line* line = out.claim();
    if (line == nullptr) return busy(peer);
    std::byte* space = out.find_payload_space(size);
    if (space == nullptr) return busy(peer);
    out.copy_choice.copy(space, payload.data(), size);
    const PayloadPlace place = out.commit_payload(size);
    line->header = header;
    std::memcpy(line->payload, &place, sizeof place);
    out.publish(line, LineKind::ringed, size);
    return settle(out, peer);
}

Post ShmEndpoint::post_fragment(PeerIndex peer, MessageHeader header, Bytes payload, OperationId) {
    DLRT_ASSERT(payload.size() <= AreaLayout::cell_bytes);
    const std::uint32_t to = number(peer);
    Outbound& out = outbound(to);
    const auto size = static_cast<std::uint32_t>(payload.size());
    Line* line = out.claim();
    if (line == nullptr) return busy(to);
    const std::uint32_t cell = cells_.find(outbound_, to);
    if (cell == CellPool::none) {
        cells_.for_each_borrower([this](std::uint32_t other) { static_cast<void>(busy(other)); });
        // Others hold all cells and do not take them: the pair's own ring is always there.
        return out.cells_in_flight == 0 ? post_through_ring(out, to, header, payload) : Post::busy;
    }
    out.copy_choice.copy(cells_.memory(cell), payload.data(), size);
    const PayloadPlace place = cell;
    line->header = header;
    std::memcpy(line->payload, &place, sizeof place);
    out.publish(line, LineKind::celled, size);
    cells_.lend(cell, out, to);
    ring(to);
    return Post::done;
}

Post ShmEndpoint::post_get(PeerIndex peer, RemoteMemory source, MutableBytes target, OperationId) {
    const std::byte* const memory = find_in_heap(peer, source, target.size());
    if (memory == nullptr) return cross_memory_.read(number(peer), source.address, target);
    plain_copy(target.data(), memory, target.size());
    return Post::done;
}

std::size_t ShmEndpoint::drain(Inbound& inbound, std::span<Arrival> out) {
    if (inbound.is_silent()) [[likely]]
        return 0;
    // What was handed out before is given back by the call of poll() that we are in. A peer is
    // visited at most once in a poll, so that nothing of this poll is given back with it.
    if (inbound.owes_much()) publish_credit(inbound);
    std::size_t count = 0;
    while (count < out.size() && inbound.take(out[count])) {
        ++count;
        if (inbound.owes_much()) return count;
    }
    if (count == 0 && inbound.owes_credit() && inbound.is_idle_long_enough()) {
        publish_credit(inbound);
    }
    return count;
}

std::size_t ShmEndpoint::poll(std::span<Arrival> out) {
    // Partner: the release increment in connect().
    if (card_->sender_changes.load(std::memory_order_acquire) != sender_changes_) [[unlikely]] {
        accept_senders();
    }
    if (!waiting_.empty()) [[unlikely]]
        look_at_credit();
    // Busy hot peers must not keep the cold ones waiting.
    const bool has_cold = order_.size() > hot_peers_max;
    const bool is_cold_turn = has_cold && ++polls_ % 4 == 0;
    std::size_t count = is_cold_turn ? 0 : poll_hot(out);
    if (has_cold && count < out.size()) count += poll_cold(out.subspan(count));
    is_holding_payloads_ = count != 0;
    return count;
}

void ShmEndpoint::look_at_credit() {
    std::erase_if(waiting_, [this](std::uint32_t peer) {
        if (outbound_[peer].has_new_credit()) outbound_[peer].refresh();
        return !outbound_[peer].is_waiting();
    });
}

std::size_t ShmEndpoint::poll_hot(std::span<Arrival> out) {
    const std::size_t hot_count = std::min(order_.size(), hot_peers_max);
    std::size_t count = 0;
    std::size_t at = first_;
    for (std::size_t visited = 0; visited < hot_count; ++visited) {
        count += drain(inbound_[order_[at]], out.subspan(count));
        if (++at >= hot_count) at = 0;
        if (count == out.size()) {
            first_ = at;
            break;
        }
    }
    return count;
}

std::size_t ShmEndpoint::poll_cold(std::span<Arrival> out) {
    std::size_t count = 0;
    const std::size_t cold_count = order_.size() - hot_peers_max;
    for (std::size_t i = 0; i < std::min(cold_count, cold_peers_per_poll); ++i) {
        if (count == out.size()) break;
        if (++cold_next_ >= cold_count) cold_next_ = 0;
        std::uint32_t& place = order_[hot_peers_max + cold_next_];
        const std::size_t taken = drain(inbound_[place], out.subspan(count));
        if (taken == 0) continue;
        count += taken;
        hot_victim_ = (hot_victim_ + 1) % hot_peers_max;
        std::swap(place, order_[hot_victim_]);
    }
    return count;
}

bool ShmEndpoint::has_work() {
    if (card_->sender_changes.load(std::memory_order_acquire) != sender_changes_) accept_senders();
    for (Inbound& inbound : inbound_) {
        if (inbound.has_message()) return true;
    }
    // What was busy may go now.
    for (const std::uint32_t peer : waiting_) {
        if (outbound_[peer].has_new_credit()) return true;
    }
    // The caller is about to sleep: nobody must wait for what it has not told yet.
    if (!is_holding_payloads_) {
        for (Inbound& inbound : inbound_) {
            if (inbound.owes_credit()) publish_credit(inbound);
        }
    }
    return false;
}

const CopyRow& ShmEndpoint::row(std::uint64_t size_bytes) const {
    const std::vector<CopyRow>& rows = options_.copy_table.rows;
    std::size_t found = 0;
    while (found + 1 < rows.size() && rows[found + 1].size_bytes_min <= size_bytes) ++found;
    return rows[found];
}

LargeProtocol ShmEndpoint::choose_large(PeerIndex peer, std::uint64_t size_bytes, Traffic traffic)
    const {
    const CopyRow& found = row(size_bytes);
    LargeProtocol wanted = found.one_way;
    if (traffic == Traffic::exchange) wanted = found.exchange;
    if (traffic == Traffic::all_busy) wanted = found.all_busy;
    if (wanted == LargeProtocol::rendezvous_read && !cross_memory_.can_read(number(peer))) {
        return LargeProtocol::rendezvous_stream;
    }
    return wanted;
}

std::uint32_t ShmEndpoint::fragment_bytes(std::uint64_t message_size_bytes) const {
    return std::clamp(row(message_size_bytes).fragment_bytes, 1u, AreaLayout::cell_bytes);
}

}  // namespace

std::uint64_t area_size_bytes(std::uint32_t local_size) {
    return AreaLayout::total_bytes(local_size);
}

Result<std::unique_ptr<Endpoint>> open_endpoint(Options options) {
    if (options.local_size == 0 || options.local_size > local_ranks_max ||
        options.local_rank >= options.local_size) {
        return fail(
            Errc::argument, "local rank {} of {} is not a place on a host (at most {} ranks)",
            options.local_rank, options.local_size, local_ranks_max
        );
    }
    if (options.area.size() < area_size_bytes(options.local_size)) {
        return fail(
            Errc::limit, "the shared area has {} bytes, {} ranks need {}", options.area.size(),
            options.local_size, area_size_bytes(options.local_size)
        );
    }
    if (options.copy_table.rows.empty()) options.copy_table = builtin_copy_table();
    return std::unique_ptr<Endpoint>(std::make_unique<ShmEndpoint>(std::move(options)));
}

}  // namespace dlrt::shm
