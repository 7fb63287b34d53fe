// SPDX-License-Identifier: Apache-2.0
/// What the engines of two ranks tell each other: the 16 bytes that every message carries, and the
/// bodies of the control messages. Values only; both sides run the same build, so bytes travel as
/// they lie in memory.
///
///   first   context id (eager, rts, inquiry, report) | the receiver's request (fragment)
///           | the sender's request (cts, fin) | bytes given back (credit)
///   second  tag (32) | kind (4) | check of what a collective's ranks must say alike (28)
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/request.hpp"
#include "runtime/wireup/flight_ring.hpp"
#include "transports/transport.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace dlrt {

/// Names a request of the process that made it: index and generation, so that a stale one is
/// recognised.
enum class RequestToken : std::uint64_t {};

enum class WireKind : std::uint8_t {
    eager = 0,     ///< The whole message.
    rts = 1,       ///< "I have a message for you": RtsBody.
    cts = 2,       ///< "Stream it to me": CtsBody.
    fragment = 3,  ///< The next piece of a stream; pieces arrive in order.
    fin = 4,       ///< "I have taken what I want": the sender's buffer is free.
    credit = 5,    ///< Eager memory of mine that you may fill again.
    inquiry = 6,   ///< "What is your call of this number?": of its communicator, by the tag.
    report = 7,    ///< CallReport.
};

struct RtsBody {
    std::uint64_t size_bytes = 0;
    RequestToken sender{};
    RemoteMemory memory;  ///< Address 0: can't be read, ask for a stream.
};
static_assert(sizeof(RtsBody) == 32);

struct CtsBody {
    RequestToken receiver{};
    std::uint64_t begin_bytes = 0;  ///< What lies before has been read already.
    std::uint64_t end_bytes = 0;  ///< Less than the message when the receiver's buffer is shorter.
};
static_assert(sizeof(CtsBody) == 24);

/// A rank's collective call, for ranks of other hosts, which can't read its flight ring.
struct CallReport {
    std::uint64_t arguments_hash = 0, size_bytes = 0;
    std::int32_t root = -1;
    std::int32_t number = 0;  ///< As in FlightEntry::tag.
    Call call = Call::none;   ///< None: it isn't known, yet or any more.
    FlightState state = FlightState::entered;
    bool is_answer = false;  ///< Else nobody has asked.
    bool has_come = false;   ///< To that call or a later one of the communicator.
    bool has_freed = false;  ///< The communicator, without the call.
    std::array<std::uint8_t, 3> reserved = {};
};
static_assert(sizeof(CallReport) == 32);

[[nodiscard]] inline MessageHeader matched_header(
    WireKind kind, ContextId context, Tag tag, std::uint32_t check
) {
    return {
        static_cast<std::uint64_t>(context),
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(tag)) << 32 |
            static_cast<std::uint64_t>(kind) << 28 | check,
    };
}

[[nodiscard]] inline MessageHeader control_header(WireKind kind, std::uint64_t first) {
    return {first, static_cast<std::uint64_t>(kind) << 28};
}

[[nodiscard]] inline WireKind kind_of(MessageHeader header) {
    return static_cast<WireKind>((header.second >> 28) & 15u);
}

[[nodiscard]] inline std::uint32_t check_of(MessageHeader header) {
    return static_cast<std::uint32_t>(header.second) & ((1u << 28) - 1);
}

[[nodiscard]] inline Tag tag_of(MessageHeader header) {
    return static_cast<Tag>(static_cast<std::uint32_t>(header.second >> 32));
}

/// The bytes of a body, for posting.
template<typename Body>
[[nodiscard]] Bytes bytes_of(const Body& body) {
    return std::as_bytes(std::span<const Body, 1>(&body, 1));
}

/// REQUIRES: payload.size() >= sizeof(Body).
template<typename Body>
[[nodiscard]] Body body_of(Bytes payload) {
    Body body;
    std::memcpy(&body, payload.data(), sizeof body);
    return body;
}

}  // namespace dlrt
