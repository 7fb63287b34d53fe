// SPDX-License-Identifier: Apache-2.0
/// The receiving side of one ordered pair: looks at the next line, hands out what it holds without
/// copying, and publishes how far it is. One thread of one process.
#pragma once

#include "transports/shm/area.hpp"

#include <cstdint>

namespace dlrt::shm {

class Inbound {
  public:
    /// Continues where the last endpoint of this rank left off. Touches the pair's record.
    Inbound(
        const AreaLayout& layout, std::uint32_t target, std::uint32_t source, std::uint32_t session
    );
    /// Gives up everything handed out, and leaves its state for the next endpoint.
    void close();

    /// Nothing to take and nothing to tell: what a poll mostly finds.
    [[nodiscard]] bool is_silent() const {
        // Partner: the release store in Outbound::publish.
        const LineWord word{lines_[place_.index].word.load(std::memory_order_acquire)};
        return word.lap() != place_.lap && consumed_ == credited_;
    }
    /// Takes the next message. Its payload stays valid until the publish_credit() after it.
    [[nodiscard]] bool take(Arrival& out) {
        const Line& line = lines_[place_.index];
        // Partner: the release store in Outbound::publish.
        const LineWord word{line.word.load(std::memory_order_acquire)};
        if (word.lap() != place_.lap) return false;
        if (word.bits >> 56 != plain_word_) return take_other(out);
        const std::uint32_t size = word.size() <= inline_bytes_max ? word.size() : 0;
        out = {source_, line.header, Bytes(line.payload, size)};
        advance();
        return true;
    }
    /// True when take() would.
    [[nodiscard]] bool has_message();

    /// So much was taken that the sender must be told before it has to wait.
    [[nodiscard]] bool owes_much() const {
        return is_urgent_ || consumed_ - credited_ >= credit_batch_;
    }
    [[nodiscard]] bool owes_credit() const { return consumed_ != credited_; }
    /// Called when there was nothing to take: what is owed is told after a while, since telling
    /// costs the sender the line that it looks at next.
    [[nodiscard]] bool is_idle_long_enough() { return ++idle_polls_ >= idle_polls_max; }
    /// The sender found no room, and may sleep.
    [[nodiscard]] bool is_awaited() const {
        return record_->sender_waits.load(std::memory_order_relaxed) != 0;
    }
    [[nodiscard]] std::uint32_t source() const { return static_cast<std::uint32_t>(source_); }
    void publish_credit() {
        // Partner: the acquire load in Outbound::refresh.
        record_->credit.store(
            consumed_ | std::uint64_t{payload_released_} << 32, std::memory_order_release
        );
        credited_ = consumed_;
        payload_credited_ = payload_released_;
        is_urgent_ = false;
        idle_polls_ = 0;
    }

  private:
    static constexpr std::uint32_t idle_polls_max = 32;

    [[nodiscard]] bool take_other(Arrival& out);
    [[nodiscard]] Bytes find_payload(const Line& line, LineWord word);
    void use_ring(std::uint32_t has_moved);
    void advance() {
        ++consumed_;
        if (++place_.index == line_count_) {
            place_.index = 0;
            ++place_.lap;
        }
    }

    Line* lines_ = nullptr;
    RingPlace place_;
    std::uint32_t line_count_ = 0;
    std::uint64_t plain_word_ = 0;  ///< High byte of the word of an inlined message of this
                                    ///< session.
    PeerIndex source_{};
    std::uint32_t consumed_ = 0;
    std::uint32_t credited_ = 0;
    std::uint32_t credit_batch_ = 0;
    bool is_urgent_ = false;
    std::uint32_t idle_polls_ = 0;
    std::uint32_t payload_released_ = 0;
    std::uint32_t payload_credited_ = 0;
    std::uint32_t session_ = 0;
    PairRecord* record_ = nullptr;
    const std::byte* payload_ = nullptr;
    const std::byte* cells_ = nullptr;
    Line* small_ = nullptr;
    Line* large_ = nullptr;
};

}  // namespace dlrt::shm
