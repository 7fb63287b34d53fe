// SPDX-License-Identifier: Apache-2.0
/// Numbered slots that never move: chunks of doubling size, so that growing copies nothing and a
/// number leads to its slot in a few instructions. What handles and requests live in.
///
/// Threads: at() may run beside grow(); the rest, and what is in the slots, is the owner's.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

namespace dlrt {

template<typename Slot>
class SlotChunks {
  public:
    SlotChunks() = default;
    SlotChunks(const SlotChunks&) = delete;
    SlotChunks& operator=(const SlotChunks&) = delete;
    ~SlotChunks() {
        for (std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
    }

    /// Null for a number that no chunk holds.
    [[nodiscard]] Slot* at(std::uint32_t number) const {
        const std::uint64_t counted = (std::uint64_t{number} >> first_chunk_bits) + 1;
        const auto chunk = static_cast<std::uint32_t>(std::bit_width(counted)) - 1;
        if (chunk >= chunk_count) return nullptr;
        // Pairs with the store in grow().
        Slot* slots = chunks_[chunk].load(std::memory_order_acquire);
        if (slots == nullptr) return nullptr;
        return slots + (number - first_number(chunk));
    }

    /// Slots so far: their numbers are 0 to count() - 1.
    [[nodiscard]] std::uint32_t count() const { return count_; }

    /// Adds a chunk; `prepare` gets each new slot and its number, before any other thread can see
    /// it. False when there are no more numbers.
    template<typename Prepare>
    [[nodiscard]] bool grow(Prepare&& prepare) {
        if (next_chunk_ == chunk_count) return false;
        const std::uint32_t chunk = next_chunk_++;
        const std::uint32_t added = std::uint32_t{1} << (chunk + first_chunk_bits);
        auto slots = std::make_unique<Slot[]>(added);
        for (std::uint32_t i = 0; i < added; ++i) prepare(slots[i], count_ + i);
        count_ += added;
        chunks_[chunk].store(slots.release(), std::memory_order_release);
        return true;
    }

  private:
    /// Chunk k holds 64 * 2^k slots.
    static constexpr std::uint32_t first_chunk_bits = 6;
    static constexpr std::uint32_t chunk_count = 25;

    [[nodiscard]] static constexpr std::uint32_t first_number(std::uint32_t chunk) {
        return ((std::uint32_t{1} << chunk) - 1) << first_chunk_bits;
    }

    std::uint32_t count_ = 0;
    std::uint32_t next_chunk_ = 0;
    std::array<std::atomic<Slot*>, chunk_count> chunks_{};
};

}  // namespace dlrt
