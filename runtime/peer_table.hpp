// SPDX-License-Identifier: Apache-2.0
/// What the engine knows of each world rank it can reach, and of each endpoint it reaches them by.
///
/// Thread: the engine's.
#pragma once

#include "runtime/engine.hpp"
#include "runtime/request_state.hpp"
#include "transports/transport.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace dlrt {

/// Bytes of a receiver's memory that one sender may fill with messages nobody has asked for yet.
inline constexpr std::uint64_t eager_credit_bytes = 256 * 1024;
/// What a message counts at least: it costs an envelope.
inline constexpr std::uint64_t credit_per_message_bytes = 64;

/// A control message that the transport was too busy to take.
struct ControlMessage {
    MessageHeader header;
    std::array<std::byte, 32> body;
    std::uint32_t size_bytes = 0;
};

struct Peer;

struct EndpointSlot {
    std::unique_ptr<Endpoint> endpoint;
    std::vector<Peer*> peer_of_index;
    std::uint32_t pending_posts = 0;
    /// It only leads to this rank itself, so that nothing can arrive that wasn't posted.
    bool is_self_only = false;
    bool was_posted = false;
};

struct Peer {
    Endpoint* endpoint = nullptr;
    EndpointSlot* slot = nullptr;
    PeerIndex index{};
    WorldRank rank = no_rank;
    std::uint32_t eager_bytes_max = 0;
    std::uint64_t credit_bytes = 0;        ///< What I may still send it eagerly.
    std::uint64_t owed_bytes = 0;          ///< What it may be told that it can send again.
    RequestQueue sends;                    ///< Not posted yet, in order.
    std::vector<ControlMessage> controls;  ///< Not posted yet, in order.
    std::uint32_t rendezvous_sends = 0;    ///< Announced to it and not complete.
    bool is_backlogged = false;            ///< Has sends or controls, and is in the engine's list.
    bool can_read = false;                 ///< Reading its memory hasn't been refused yet.
    bool has_departed = false;
    bool is_probed_for = false;    ///< Since the last look at who is waited for.
    bool was_awaited = false;      ///< At that look.
    std::uint64_t busy_round = 0;  ///< The last round of advance_streams() in which it was busy.
};

}  // namespace dlrt
