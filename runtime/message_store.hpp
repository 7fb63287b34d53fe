// SPDX-License-Identifier: Apache-2.0
/// Where messages wait that came before their receive: an envelope of 80 bytes each, and the
/// payload of those that were sent eagerly. Memory is kept for reuse up to a limit; credits bound
/// how much is ever in use.
///
/// Thread: the engine's.
#pragma once

#include "runtime/match.hpp"
#include "runtime/wire_header.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace dlrt {

/// Not the token of any request: the sender wants no answer.
inline constexpr RequestToken no_request{~std::uint64_t{0}};

/// A message without its receive; once a matched probe has taken it out, the caller's.
struct MatchedMessage : UnexpectedMessage {
    std::uint64_t size_bytes = 0;
    RequestToken sender = no_request;
    /// Eager: the payload. Announced: the sender's RemoteMemory. Null when there is none.
    std::byte* block = nullptr;

    std::uint32_t check = 0;  ///< Of the header.

    [[nodiscard]] bool is_announced() const { return sender != no_request; }
    [[nodiscard]] Bytes payload() const { return {block, size_bytes}; }
};
static_assert(sizeof(MatchedMessage) == 88);

class MessageStore {
  public:
    MessageStore() = default;
    MessageStore(const MessageStore&) = delete;
    MessageStore& operator=(const MessageStore&) = delete;
    ~MessageStore();

    [[nodiscard]] MatchedMessage& add_eager(const MatchKey& key, Bytes payload);
    [[nodiscard]] MatchedMessage& add_announced(const MatchKey& key, const RtsBody& body);
    /// REQUIRES: in no matcher.
    void release(MatchedMessage& message);

    /// Payload and envelope bytes of messages that wait now.
    [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }

  private:
    struct FreeBlock {
        FreeBlock* next;
    };
    static constexpr std::size_t class_count = 40;
    static constexpr std::uint32_t chunk_size = 64;

    [[nodiscard]] MatchedMessage& acquire(const MatchKey& key);
    [[nodiscard]] std::byte* allocate(std::uint64_t size_bytes);
    void give_back(std::byte* block, std::uint64_t size_bytes);

    std::vector<std::unique_ptr<MatchedMessage[]>> chunks_;
    UnexpectedMessage* free_messages_ = nullptr;
    std::array<FreeBlock*, class_count> free_blocks_{};  ///< By power of two.
    std::uint64_t kept_bytes_ = 0;
    std::uint64_t used_bytes_ = 0;
};

}  // namespace dlrt
