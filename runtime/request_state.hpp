// SPDX-License-Identifier: Apache-2.0
/// What is behind a Request: the state of one operation, and the pool they come from. The first
/// cache line is all that matching and a send that goes at once touch; the third only matters in
/// communicators whose ranks are not world ranks.
///
/// Thread: the engine's (under its lock with several threads), except `is_done`, which anybody may
/// read. A surface's handle names the request by its index and generation.
#pragma once

#include "runtime/engine.hpp"
#include "runtime/match.hpp"
#include "runtime/slot_chunks.hpp"
#include "runtime/wire_header.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

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

struct alignas(cache_line_bytes) Request : PostedReceive {
    // From PostedReceive: `key` is the route (a send's key.source is its target; no_rank: there is
    // no other side); outside the matcher `next` links the engine's lists and `sequence` holds the
    // other side's RequestToken.

    std::uint32_t index = 0;
    std::atomic<std::uint32_t> generation{0};  ///< Odd while in use.
    std::atomic<bool> is_done{true};           ///< Released after all results are written.
    Stage stage = Stage::idle;
    RequestKind kind = RequestKind::receive;
    std::uint8_t error = 0;  ///< An Errc.
    std::uint8_t pending_posts = 0;
    bool is_cancelled = false;
    bool is_released : 1 = false;
    bool has_check : 1 = false;
    /// Ends the byte: who holds the request writes the next ones, without the engine's lock.
    std::uint8_t : 0;
    bool is_started : 1 = false;
    Persistence persistence : 1 = Persistence::once;
    bool has_handle : 1 = false;
    bool has_translation : 1 = false;

    std::byte* address = nullptr;  ///< Where the data begins; with gaps: of element 0. A send only
                                   ///< reads.
    std::uint64_t capacity_bytes = 0;  ///< Data bytes of the buffer.
    std::uint64_t message_bytes = 0;   ///< Data bytes of the message.
    std::uint64_t moved_bytes = 0;     ///< Sent or received of it so far.
    WorldRank found_source = no_rank;
    Tag found_tag = any_tag;
    /// The layout when it has gaps; the sender's memory while reading; what a task's request is of;
    /// of a failed one that isn't persistent, why the other side is lost, where that is known.
    std::variant<std::monostate, LayoutRef, RemoteMemory, EngineTask*, const std::string*> extra;

    /// What a surface translates found_source by; has_translation says whether it is there.
    std::shared_ptr<const void> translation;
    /// What both sides of a collective's message must have alike; has_check says whether it is set.
    std::uint32_t check = 0;

    void set_check(std::uint32_t value) {
        check = value;
        has_check = true;
    }
    /// 0 where there is none.
    [[nodiscard]] std::uint32_t own_check() const { return has_check ? check : 0; }
    [[nodiscard]] const LayoutRef* gapped() const { return std::get_if<LayoutRef>(&extra); }
    /// REQUIRES: kind == RequestKind::task.
    [[nodiscard]] EngineTask& task() const { return **std::get_if<EngineTask*>(&extra); }
    [[nodiscard]] bool is_in_use() const {
        return (generation.load(std::memory_order_relaxed) & 1) != 0;
    }
    [[nodiscard]] RequestToken token() const {
        const std::uint64_t number = generation.load(std::memory_order_relaxed);
        return RequestToken{number << 32 | index};
    }
    [[nodiscard]] RequestToken other_side() const { return RequestToken{sequence}; }
    void set_other_side(RequestToken token) { sequence = static_cast<std::uint64_t>(token); }
    /// How much of the message fits.
    [[nodiscard]] std::uint64_t wanted_bytes() const {
        return message_bytes < capacity_bytes ? message_bytes : capacity_bytes;
    }
};
static_assert(sizeof(Request) == 3 * cache_line_bytes);

/// First in, first out, through `next`.
struct RequestQueue {
    PostedReceive* first = nullptr;
    PostedReceive* last = nullptr;

    [[nodiscard]] bool is_empty() const { return first == nullptr; }
    [[nodiscard]] Request& front() const { return *static_cast<Request*>(first); }
    void push_back(Request& request);
    void pop_front();
    void remove(Request& request);
};

/// Requests that stay where they are. Allocates only when it grows, never shrinks.
///
/// A request in use has an odd generation, and each acquire and release adds one, so that no token
/// is ever valid twice (but for a wrap of 2^31 uses of one request).
///
/// Threads: the engine's, except find(), which may run beside everything.
class RequestPool {
  public:
    /// Begins with that generation, which is even: beyond those of an earlier pool, whose tokens
    /// then are stale here.
    explicit RequestPool(std::uint32_t first_generation) : first_generation_(first_generation) {}

    /// Everything in it is as in a new one, except index and generation.
    [[nodiscard]] Request& acquire() {
        if (free_ == nullptr) [[unlikely]]
            grow();
        auto& request = *static_cast<Request*>(free_);
        free_ = request.next;
        advance(request);
        return request;
    }
    /// REQUIRES: complete, in no list; not a task's (see EngineState::release()). Its tokens become
    /// stale.
    void release(Request& request) {
        if (request.extra.index() != 0) request.extra = std::monostate{};
        if (request.has_translation) request.translation.reset();
        advance(request);
        request.error = 0;
        request.is_cancelled = false;
        request.is_released = false;
        request.has_check = false;
        request.is_started = false;
        request.persistence = Persistence::once;
        request.has_handle = false;
        request.has_translation = false;
        request.next = free_;
        free_ = &request;
    }
    /// Null when the token is stale.
    [[nodiscard]] Request* find(RequestToken token) const {
        const auto index = static_cast<std::uint32_t>(token);
        const auto generation = static_cast<std::uint32_t>(static_cast<std::uint64_t>(token) >> 32);
        Request* const request = slots_.at(index);
        if (request == nullptr || (generation & 1) == 0) return nullptr;
        // Pairs with the store in advance().
        const bool is_live = request->generation.load(std::memory_order_acquire) == generation;
        return is_live ? request : nullptr;
    }
    /// What a pool that comes after this one should begin with.
    [[nodiscard]] std::uint32_t next_generation() const;

    template<typename Visitor>
    void for_each(Visitor&& visit) const {
        for (std::uint32_t i = 0; i < slots_.count(); ++i) visit(*slots_.at(i));
    }

  private:
    static void advance(Request& request) {
        const std::uint32_t generation = request.generation.load(std::memory_order_relaxed);
        request.generation.store(generation + 1, std::memory_order_release);
    }
    void grow();

    std::uint32_t first_generation_;
    SlotChunks<Request> slots_;
    PostedReceive* free_ = nullptr;
};

}  // namespace dlrt
