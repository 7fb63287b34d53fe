// SPDX-License-Identifier: Apache-2.0
/// Rules by which a user says how messages travel. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace dlrt {

/// How a message may travel; the names are those of DLRT_PROTO.
enum class Protocol : std::uint8_t { eager, rendezvous_read, rendezvous_stream };

/// One item of DLRT_PROTO: "[^]name[@[from]-[end]]", for sizes from <= size < end.
struct ProtocolRule {
    Protocol protocol = Protocol::eager;
    bool is_excluded = false;
    std::uint64_t size_bytes_min = 0;
    std::uint64_t size_bytes_end = std::numeric_limits<std::uint64_t>::max();
    friend bool operator==(const ProtocolRule&, const ProtocolRule&) = default;
};

/// What the rules make of a message: the first rule without ^ that covers its size, else
/// `preferred` unless a ^ rule covers it, else the first protocol that none excludes.
/// `is_eager_possible` says whether the size fits an eager message; an impossible eager rule is
/// passed over. rendezvous_stream, which always works, is the answer when everything is excluded.
[[nodiscard]] Protocol choose_protocol(
    std::span<const ProtocolRule> rules, std::uint64_t size_bytes, Protocol preferred,
    bool is_eager_possible
);

}  // namespace dlrt
