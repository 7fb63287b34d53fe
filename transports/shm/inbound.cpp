// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/inbound.hpp"

#include "runtime/base/check.hpp"

#include <algorithm>
#include <cstring>

namespace dlrt::shm {
namespace {

constexpr std::uint32_t ring_bytes = AreaLayout::payload_ring_bytes;
/// So much released payload is worth telling: then the sender never finds its ring full for long.
constexpr std::uint32_t payload_batch_bytes = ring_bytes / 4;

/// How a line's session relates to ours, modulo 16.
enum class SessionAge { past, present, future };

SessionAge session_age(std::uint32_t line_session, std::uint32_t own_session) {
    const std::uint32_t ahead = (line_session - own_session) % 16;
    if (ahead == 0) return SessionAge::present;
    return ahead < 8 ? SessionAge::future : SessionAge::past;
}

}  // namespace

Inbound::Inbound(
    const AreaLayout& layout, std::uint32_t target, std::uint32_t source, std::uint32_t session
)
    : source_(static_cast<PeerIndex>(source)),
      session_(session),
      record_(&layout.record(target, source)),
      payload_(layout.payload_ring(target, source)),
      cells_(layout.cells(source)),
      small_(layout.lines_small(target, source)),
      large_(layout.lines_large(target, source)) {
    plain_word_ = LineWord::make(0, 0, LineKind::inlined, session).bits >> 56;
    const std::uint64_t credit = record_->credit.load(std::memory_order_relaxed);
    consumed_ = credited_ = static_cast<std::uint32_t>(credit);
    payload_released_ = payload_credited_ = static_cast<std::uint32_t>(credit >> 32);
    place_ = record_->receiver;
    use_ring(place_.has_moved);
    if (place_.lap == 0) place_.lap = 1;
}

void Inbound::close() {
    publish_credit();
    record_->receiver = place_;
}

void Inbound::use_ring(std::uint32_t has_moved) {
    place_.has_moved = has_moved;
    lines_ = has_moved != 0 ? large_ : small_;
    line_count_ = has_moved != 0 ? AreaLayout::large_lines : AreaLayout::small_lines;
    credit_batch_ = line_count_ / 4;
}

Bytes Inbound::find_payload(const Line& line, LineWord word) {
    if (word.kind() == LineKind::inlined) {
        return {line.payload, std::min(word.size(), inline_bytes_max)};
    }
    PayloadPlace place = 0;
    std::memcpy(&place, line.payload, sizeof place);
    if (word.kind() == LineKind::ringed) {
        const std::uint32_t offset = place % ring_bytes;
        DLRT_ASSERT(word.size() <= ring_bytes - offset);
        const std::uint32_t size = std::min(word.size(), ring_bytes - offset);
        payload_released_ = place + whole_lines(size);
        if (payload_released_ - payload_credited_ >= payload_batch_bytes) is_urgent_ = true;
        return {payload_ + offset, size};
    }
    DLRT_ASSERT(word.kind() == LineKind::celled);
    DLRT_ASSERT(place < AreaLayout::cell_count && word.size() <= AreaLayout::cell_bytes);
    is_urgent_ = true;
    const std::uint64_t cell = place % AreaLayout::cell_count;
    return {cells_ + cell * AreaLayout::cell_bytes, std::min(word.size(), AreaLayout::cell_bytes)};
}

bool Inbound::has_message() {
    // Lines that carry no message of this session are stepped over; the first that does stays.
    for (;;) {
        const Line& line = lines_[place_.index];
        const LineWord word{line.word.load(std::memory_order_acquire)};
        if (word.lap() != place_.lap) return false;
        const SessionAge age = session_age(word.session(), session_);
        if (age == SessionAge::future) return false;
        if (word.kind() == LineKind::moved) {
            ++consumed_;
            place_ = RingPlace{.index = 0, .lap = 1, .has_moved = 1};
            use_ring(1);
            continue;
        }
        if (age == SessionAge::present) return true;
        static_cast<void>(find_payload(line, word));
        advance();
    }
}

bool Inbound::take_other(Arrival& out) {
    if (!has_message()) return false;
    const Line& line = lines_[place_.index];
    const LineWord word{line.word.load(std::memory_order_acquire)};
    out = {source_, line.header, find_payload(line, word)};
    advance();
    return true;
}

}  // namespace dlrt::shm
