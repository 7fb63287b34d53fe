// SPDX-License-Identifier: Apache-2.0
/// What lies where in the shared area, and what each byte of it may hold. Everything begins as zero
/// and is touched only when used. Every field has one writer; whoever reads it treats it as
/// untrusted.
///
///   large lines [target][source] | payload rings [target][source] | cells [owner]
///   | small lines [target][source] | pair records [target][source] | cards [rank]
///
/// The area outlives an endpoint: a rank may close its endpoint and open another on the same area.
/// Every line therefore names the session (how often its sender had opened) modulo 16, and both
/// sides of a pair leave their counters in the pair's record when they close.
#pragma once

#include "runtime/base/bytes.hpp"
#include "transports/transport.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dlrt::shm {

/// What fits into one line beside its word and header.
inline constexpr std::uint32_t inline_bytes_max = 40;

/// A message, or where its payload is. The word is written last and read first; its place never
/// holds payload. See LineWord.
struct alignas(cache_line_bytes) Line {
    std::atomic<std::uint64_t> word;
    MessageHeader header;
    std::byte payload[inline_bytes_max];
};
static_assert(sizeof(Line) == cache_line_bytes);

enum class LineKind : std::uint32_t {
    inlined = 1,  ///< The payload is in the line.
    ringed = 2,   ///< The payload is in the pair's payload ring; the line holds its position.
    celled = 3,   ///< The payload is in a cell of the sender; the line holds its number.
    moved = 4,    ///< No message: from now on this pair uses its large ring of lines.
};

/// The word: lap of the ring (32 bits) | size (24) | kind (4) | session (4).
struct LineWord {
    std::uint64_t bits = 0;

    [[nodiscard]] static LineWord make(
        std::uint32_t lap, std::uint32_t size, LineKind kind, std::uint32_t session
    ) {
        return {
            lap | std::uint64_t{size} << 32 | std::uint64_t(kind) << 56 |
            std::uint64_t{session % 16} << 60};
    }
    [[nodiscard]] std::uint32_t lap() const { return static_cast<std::uint32_t>(bits); }
    [[nodiscard]] std::uint32_t size() const {
        return static_cast<std::uint32_t>(bits >> 32) & 0xff'ffff;
    }
    [[nodiscard]] LineKind kind() const { return static_cast<LineKind>(bits >> 56 & 15); }
    [[nodiscard]] std::uint32_t session() const { return static_cast<std::uint32_t>(bits >> 60); }
};

/// First bytes of Line::payload for `ringed` (bytes since the beginning, modulo 2^32) and `celled`
/// (number of the cell).
using PayloadPlace = std::uint32_t;

/// Payloads of a ring begin on lines of their own.
[[nodiscard]] constexpr std::uint32_t whole_lines(std::uint32_t size_bytes) {
    constexpr auto line_bytes = static_cast<std::uint32_t>(cache_line_bytes);
    return (size_bytes + line_bytes - 1) / line_bytes * line_bytes;
}

/// Where one side of a pair stands in the ring of lines.
struct RingPlace {
    std::uint32_t index = 0;  ///< Next line.
    std::uint32_t lap = 0;    ///< What its word will say; 0 in a record: never used.
    std::uint32_t has_moved = 0;
};

/// The two ends of an ordered pair.
struct alignas(no_sharing_bytes) PairRecord {
    /// Written by the receiver: lines consumed (low half), payload position released (high half).
    alignas(cache_line_bytes) std::atomic<std::uint64_t> credit;
    RingPlace receiver;  ///< Written by the receiver when it closes.
    /// Written by the sender: 1 while a post of it was busy, so that credit must come with a ring.
    alignas(cache_line_bytes) std::atomic<std::uint32_t> sender_waits;
    /// Written by the sender when it closes.
    RingPlace sender;
    std::uint32_t lines_sent;
    std::uint32_t payload_position;
    std::uint32_t payload_touched_bytes;
};
static_assert(sizeof(PairRecord) == 2 * cache_line_bytes);

inline constexpr std::uint32_t local_ranks_max = 1024;

/// What a rank tells everybody, and where those who send to it announce themselves.
struct alignas(no_sharing_bytes) Card {
    /// Grows after a bit was set in `senders`.
    alignas(cache_line_bytes) std::atomic<std::uint32_t> sender_changes;
    /// Written by the rank, then published by `identity_session`.
    alignas(cache_line_bytes) std::atomic<std::uint32_t> identity_session;
    std::uint32_t sessions;  ///< How often the rank has opened.
    std::int32_t pid;
    std::uint64_t cookie_address;
    std::uint64_t cookie[2];
    alignas(no_sharing_bytes) std::atomic<std::uint64_t> senders[local_ranks_max / 64];
};
static_assert(sizeof(Card) == 256);

/// Positions in the area for so many ranks. A value.
class AreaLayout {
  public:
    static constexpr std::uint32_t small_lines = 16;
    static constexpr std::uint32_t large_lines = 256;
    static constexpr std::uint32_t payload_ring_bytes = 64 * 1024;
    static constexpr std::uint32_t cell_bytes = 64 * 1024;
    static constexpr std::uint32_t cell_count = 32;
    static constexpr std::uint64_t bytes_per_rank = 4 * 1024 * 1024;
    static constexpr std::uint64_t bytes_per_pair = 128 * 1024;

    AreaLayout(std::byte* base, std::uint32_t local_size) : size_(local_size) {
        const std::uint64_t pairs = std::uint64_t{local_size} * local_size;
        large_ = base;
        payload_ = large_ + pairs * large_lines * sizeof(Line);
        cells_ = payload_ + pairs * payload_ring_bytes;
        small_ = cells_ + std::uint64_t{local_size} * cell_count * cell_bytes;
        records_ = small_ + pairs * small_lines * sizeof(Line);
        cards_ = records_ + pairs * sizeof(PairRecord);
    }

    [[nodiscard]] static constexpr std::uint64_t total_bytes(std::uint32_t local_size) {
        return local_size * bytes_per_rank +
               std::uint64_t{local_size} * local_size * bytes_per_pair;
    }

    [[nodiscard]] Line* lines_small(std::uint32_t target, std::uint32_t source) const {
        return reinterpret_cast<Line*>(small_) + pair(target, source) * small_lines;
    }
    [[nodiscard]] Line* lines_large(std::uint32_t target, std::uint32_t source) const {
        return reinterpret_cast<Line*>(large_) + pair(target, source) * large_lines;
    }
    [[nodiscard]] std::byte* payload_ring(std::uint32_t target, std::uint32_t source) const {
        return payload_ + pair(target, source) * payload_ring_bytes;
    }
    [[nodiscard]] PairRecord& record(std::uint32_t target, std::uint32_t source) const {
        return reinterpret_cast<PairRecord*>(records_)[pair(target, source)];
    }
    [[nodiscard]] std::byte* cells(std::uint32_t owner) const {
        return cells_ + std::uint64_t{owner} * cell_count * cell_bytes;
    }
    [[nodiscard]] Card& card(std::uint32_t rank) const {
        return reinterpret_cast<Card*>(cards_)[rank];
    }

  private:
    [[nodiscard]] std::uint64_t pair(std::uint32_t target, std::uint32_t source) const {
        return std::uint64_t{target} * size_ + source;
    }

    std::uint32_t size_;
    std::byte* large_;
    std::byte* payload_;
    std::byte* cells_;
    std::byte* small_;
    std::byte* records_;
    std::byte* cards_;
};
static_assert(
    AreaLayout::large_lines * sizeof(Line) + AreaLayout::payload_ring_bytes +
        AreaLayout::small_lines * sizeof(Line) + sizeof(PairRecord) <=
    AreaLayout::bytes_per_pair
);
static_assert(
    std::uint64_t{AreaLayout::cell_count} * AreaLayout::cell_bytes + sizeof(Card) <=
    AreaLayout::bytes_per_rank
);

}  // namespace dlrt::shm
