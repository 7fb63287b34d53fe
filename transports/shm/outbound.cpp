// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/outbound.hpp"

#include "runtime/base/check.hpp"

namespace dlrt::shm {
namespace {

constexpr std::uint32_t ring_bytes = AreaLayout::payload_ring_bytes;

}  // namespace

void Outbound::open(
    const AreaLayout& layout, std::uint32_t target, std::uint32_t source, std::uint32_t session
) {
    record_ = &layout.record(target, source);
    payload_ = layout.payload_ring(target, source);
    small_ = layout.lines_small(target, source);
    large_ = layout.lines_large(target, source);
    session_ = session;
    place_ = record_->sender;
    sent_ = record_->lines_sent;
    payload_position_ = record_->payload_position;
    payload_touched_bytes_ = record_->payload_touched_bytes;
    credit_ = record_->credit.load(std::memory_order_acquire);
    consumed_ = static_cast<std::uint32_t>(credit_);
    payload_released_ = static_cast<std::uint32_t>(credit_ >> 32);
    DLRT_ASSERT(sent_ - consumed_ <= AreaLayout::large_lines);
    use_ring(place_.has_moved);
    if (place_.lap == 0) place_.lap = 1;
}

void Outbound::close() {
    record_->sender_waits.store(0, std::memory_order_relaxed);
    record_->sender = place_;
    record_->lines_sent = sent_;
    record_->payload_position = payload_position_;
    record_->payload_touched_bytes = payload_touched_bytes_;
    lines_ = nullptr;
}

void Outbound::use_ring(std::uint32_t has_moved) {
    place_.has_moved = has_moved;
    lines_ = has_moved != 0 ? large_ : small_;
    line_count_ = has_moved != 0 ? AreaLayout::large_lines : AreaLayout::small_lines;
    // The last free line of the small ring is kept for saying that the pair moves.
    line_capacity_ = has_moved != 0 ? line_count_ : line_count_ - 1;
}

void Outbound::refresh() {
    take_credit(record_->credit.load(std::memory_order_acquire));
}

void Outbound::refresh_for_payload() {
    // Who tries again and again reads no clock each time, which costs more than the look itself.
    if (is_waiting_) return refresh();
    take_credit(copy_choice.load_timed(record_->credit, credit_));
}

void Outbound::take_credit(std::uint64_t credit) {
    // Partner: the release store in Inbound::publish_credit. What it says has been read by the
    // peer.
    if (is_waiting_ && credit != credit_) {
        is_waiting_ = false;
        record_->sender_waits.store(0, std::memory_order_relaxed);
    }
    credit_ = credit;
    const auto consumed = static_cast<std::uint32_t>(credit);
    const auto released = static_cast<std::uint32_t>(credit >> 32);
    DLRT_ASSERT(consumed - consumed_ <= sent_ - consumed_);
    if (consumed - consumed_ <= sent_ - consumed_) consumed_ = consumed;
    // After a skip of ours the peer's position can be older than what we know.
    if (released - payload_released_ <= payload_position_ - payload_released_) {
        payload_released_ = released;
    }
}

Line* Outbound::claim_slowly() {
    refresh();
    if (sent_ - consumed_ < line_capacity_) return lines_ + place_.index;
    if (place_.has_moved != 0) return nullptr;
    publish(lines_ + place_.index, LineKind::moved, 0);
    place_ = RingPlace{.index = 0, .lap = 1, .has_moved = 1};
    use_ring(1);
    return lines_;
}

std::byte* Outbound::find_payload_space(std::uint32_t size) {
    const std::uint32_t wanted = whole_lines(size);
    for (bool is_fresh = false;; is_fresh = true) {
        const std::uint32_t offset = payload_position_ % ring_bytes;
        const std::uint32_t to_end = ring_bytes - offset;
        const std::uint32_t skip = wanted <= to_end ? 0 : to_end;
        const std::uint32_t used = payload_position_ - payload_released_;
        const bool fits = used + skip + wanted <= ring_bytes;
        const bool needs_new_memory = skip == 0 && offset + wanted > payload_touched_bytes_;
        if (fits && !needs_new_memory) {
            payload_position_ += skip;
            return payload_ + payload_position_ % ring_bytes;
        }
        if (is_fresh) {
            if (used == 0 && offset != 0) {
                // Everything has been read: the beginning again, rather than memory never used
                // before.
                payload_position_ += to_end;
                payload_released_ = payload_position_;
            } else if (!fits) {
                return nullptr;
            }
            return payload_ + payload_position_ % ring_bytes;
        }
        refresh_for_payload();
    }
}

PayloadPlace Outbound::commit_payload(std::uint32_t size) {
    const std::uint32_t position = payload_position_;
    payload_position_ += whole_lines(size);
    const std::uint32_t end = position % ring_bytes + whole_lines(size);
    if (end > payload_touched_bytes_) payload_touched_bytes_ = end;
    return position;
}

}  // namespace dlrt::shm
