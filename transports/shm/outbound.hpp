// SPDX-License-Identifier: Apache-2.0
/// The sending side of one ordered pair: claims lines and payload space, publishes them, learns
/// what has come free. One thread of one process.
///
/// A pair begins with 16 lines. When the receiver falls behind by as many, the pair moves for good
/// to a ring of 256: a rank that says little to each of many costs little memory.
#pragma once

#include "transports/shm/area.hpp"
#include "transports/shm/copy_choice.hpp"

#include <cstdint>
#include <cstring>

namespace dlrt::shm {

class Outbound {
  public:
    [[nodiscard]] bool is_open() const { return lines_ != nullptr; }
    /// Continues where the last endpoint of this rank left off. Touches the pair's record.
    void open(
        const AreaLayout& layout, std::uint32_t target, std::uint32_t source, std::uint32_t session
    );
    /// Leaves its state for the next endpoint.
    void close();

    /// Whether claim() will succeed at once. Never before open().
    [[nodiscard]] bool has_line() const { return sent_ - consumed_ < line_capacity_; }
    /// The next line, or null when the receiver must first consume some.
    [[nodiscard]] Line* claim() {
        if (has_line()) [[likely]]
            return next_line();
        return claim_slowly();
    }
    /// REQUIRES: has_line().
    [[nodiscard]] Line* next_line() const { return lines_ + place_.index; }
    /// REQUIRES: the last claim() succeeded and its line is filled in.
    void publish(Line* line, LineKind kind, std::uint32_t size) {
        // Partner: the acquire load in Inbound.
        line->word.store(
            LineWord::make(place_.lap, size, kind, session_).bits, std::memory_order_release
        );
        ++sent_;
        if (++place_.index == line_count_) {
            place_.index = 0;
            ++place_.lap;
        }
    }

    /// Contiguous space in the pair's payload ring, or null. Nothing is taken until
    /// commit_payload().
    [[nodiscard]] std::byte* find_payload_space(std::uint32_t size);
    /// REQUIRES: find_payload_space(size) was the last call and gave a place. Returns its position.
    PayloadPlace commit_payload(std::uint32_t size);

    /// Time to refresh(), after a message is on its way and before lines run out.
    [[nodiscard]] bool is_low() const { return sent_ - consumed_ + 2 >= line_capacity_; }
    /// Takes in what the receiver has published.
    void refresh();
    /// The same before a payload is copied: learns how to copy it, but not from retries.
    void refresh_for_payload();
    /// True when the line that was published as the n-th (sent() right after it) has been released.
    [[nodiscard]] bool is_released(std::uint32_t nth) const {
        return static_cast<std::int32_t>(consumed_ - nth) >= 0;
    }
    [[nodiscard]] std::uint32_t sent() const { return sent_; }

    /// A post was busy: from now on until the next refresh with news, the receiver rings when it
    /// gives something back.
    void wait_for_credit() {
        if (is_waiting_) return;
        is_waiting_ = true;
        // Ordered with the receiver's load by announce_sleep(), after which has_credit() is asked.
        record_->sender_waits.store(1, std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_waiting() const { return is_waiting_; }
    /// The receiver has given something back that no refresh has seen.
    [[nodiscard]] bool has_new_credit() const {
        return record_->credit.load(std::memory_order_acquire) != credit_;
    }

    std::uint32_t cells_in_flight = 0;  ///< Kept by the CellPool.
    CopyChoice copy_choice;

  private:
    [[nodiscard]] Line* claim_slowly();
    void take_credit(std::uint64_t credit);
    void use_ring(std::uint32_t has_moved);

    Line* lines_ = nullptr;
    RingPlace place_;
    std::uint32_t line_count_ = 0;
    std::uint32_t line_capacity_ = 0;
    std::uint32_t sent_ = 0;
    std::uint32_t consumed_ = 0;  ///< As last read; behind the truth, never ahead.
    std::uint32_t session_ = 0;
    std::uint64_t credit_ = 0;  ///< The word as last read.
    bool is_waiting_ = false;

    std::uint32_t payload_position_ = 0;
    std::uint32_t payload_released_ = 0;  ///< As last read.
    std::uint32_t payload_touched_bytes_ = 0;
    std::byte* payload_ = nullptr;
    PairRecord* record_ = nullptr;
    Line* small_ = nullptr;
    Line* large_ = nullptr;
};

}  // namespace dlrt::shm
