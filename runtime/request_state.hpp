// SPDX-License-Identifier: Apache-2.0
/// What is behind a Request: the state of one operation, in two cache lines, and the pool they come
/// from.
///
/// Thread: the engine's (under its lock with several threads), except `is_done`, which anybody may
/// read.
#pragma once

#include "runtime/engine.hpp"
#include "runtime/match.hpp"
#include "runtime/wire_header.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace dlrt {

/// Where an operation is on its way. Each list of the engine holds requests of one stage only.
enum class Stage : std::uint8_t {
    idle,       ///< Complete, or not started.
    posted,     ///< Receive: in the matcher.
    backlog,    ///< Send: the transport was busy; queued at its peer.
    announced,  ///< Send: the receiver knows of it and hasn't answered.
    streaming,  ///< Send: pieces are being posted.
    draining,   ///< Send: all pieces posted, some still pending in the transport.
    reading,    ///< Receive: takes the data out of the sender's memory.
    filling,    ///< Receive: pieces arrive.
};

enum class RequestKind : std::uint8_t { send, synchronous_send, receive };
enum class Persistence : std::uint8_t { once, persistent };

struct alignas(cache_line_bytes) Request : PostedReceive {
    // From PostedReceive: `key` is the route (a send's key.source is its target); outside the
    // matcher `next` links the engine's lists and `sequence` holds the other side's RequestToken.

    std::byte* address = nullptr;  ///< Where the data begins; with gaps: of element 0. A send only
                                   ///< reads.
    std::uint64_t capacity_bytes = 0;  ///< Data bytes of the buffer.
    std::uint64_t message_bytes = 0;   ///< Data bytes of the message.
    std::uint64_t moved_bytes = 0;     ///< Sent or received of it so far.
    /// The layout when it has gaps; the sender's memory while reading.
    std::variant<std::monostate, LayoutRef, RemoteMemory> extra;
    WorldRank found_source = no_rank;
    Tag found_tag = any_tag;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    std::atomic<bool> is_done{true};  ///< Released after all results are written.
    Stage stage = Stage::idle;
    RequestKind kind = RequestKind::receive;
    Persistence persistence = Persistence::once;
    std::uint8_t error = 0;  ///< An Errc.
    std::uint8_t pending_posts = 0;
    bool is_started = false;
    bool is_released : 1 = false;
    bool is_cancelled : 1 = false;

    [[nodiscard]] const LayoutRef* gapped() const { return std::get_if<LayoutRef>(&extra); }
    [[nodiscard]] RequestToken token() const {
        return RequestToken{static_cast<std::uint64_t>(generation) << 32 | index};
    }
    [[nodiscard]] RequestToken other_side() const { return RequestToken{sequence}; }
    void set_other_side(RequestToken token) { sequence = static_cast<std::uint64_t>(token); }
    /// How much of the message fits.
    [[nodiscard]] std::uint64_t wanted_bytes() const {
        return message_bytes < capacity_bytes ? message_bytes : capacity_bytes;
    }
};
static_assert(sizeof(Request) == 2 * cache_line_bytes);

/// First in, first out, through `next`.
struct RequestList {
    PostedReceive* first = nullptr;
    PostedReceive* last = nullptr;

    [[nodiscard]] bool is_empty() const { return first == nullptr; }
    [[nodiscard]] Request& front() const { return *static_cast<Request*>(first); }
    void push_back(Request& request);
    void pop_front();
    void remove(Request& request);
};

/// Requests that stay where they are. Grows by chunks, never shrinks, allocates only when it grows.
class RequestPool {
  public:
    /// Everything in it is as in a new one, except index and generation.
    [[nodiscard]] Request& acquire() {
        if (free_ == nullptr) grow();
        auto& request = *static_cast<Request*>(free_);
        free_ = request.next;
        return request;
    }
    /// REQUIRES: in no list. Its tokens become stale.
    void release(Request& request);
    /// Null when the token is stale.
    [[nodiscard]] Request* find(RequestToken token);

    template<typename Visitor>
    void for_each(Visitor&& visit) {
        for (auto& chunk : chunks_) {
            for (std::uint32_t i = 0; i < chunk_size; ++i) visit(chunk[i]);
        }
    }

  private:
    static constexpr std::uint32_t chunk_size = 64;
    void grow();

    std::vector<std::unique_ptr<Request[]>> chunks_;
    PostedReceive* free_ = nullptr;
};

}  // namespace dlrt
