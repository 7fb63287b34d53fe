// SPDX-License-Identifier: Apache-2.0
/// An operation of the user in flight. Owned by the engine's pool; completes exactly once per
/// start.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/base/status.hpp"

#include <atomic>
#include <cstdint>

namespace dlrt {

enum class ContextId : std::uint64_t {};
using WorldRank = std::int32_t;
using Tag = std::int32_t;
inline constexpr WorldRank any_source = -2;
inline constexpr WorldRank no_rank = -1;
inline constexpr Tag any_tag = -1;

enum class RequestKind : std::uint8_t { send, synchronous_send, receive, task };
enum class Persistence : std::uint8_t { once, persistent };

/// What a receive or probe found.
struct MessageStatus {
    WorldRank source = no_rank;  ///< World rank.
    Tag tag = any_tag;
    Status error;
    bool is_cancelled = false;
    std::uint64_t size_bytes = 0;  ///< Of what was received (after truncation: what fits).
};

struct Request;  // Engine-private layout in request_state.hpp; the three questions below are for
                 // everybody.

[[nodiscard]] DLRT_CORE bool is_complete(const Request& request);  ///< Also true for inactive ones.
[[nodiscard]] DLRT_CORE bool is_persistent(const Request& request);
[[nodiscard]] DLRT_CORE bool is_active(const Request& request);  ///< Started and not yet waited
                                                                 ///< for.
/// REQUIRES: is_complete(request). For a persistent request: of its last round.
[[nodiscard]] DLRT_CORE MessageStatus status_of(const Request& request);

/// As status_of().error, and explains it as the calling thread's last error text.
DLRT_CORE Status outcome_of(const Request& request);

}  // namespace dlrt
