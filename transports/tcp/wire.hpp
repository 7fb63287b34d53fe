// SPDX-License-Identifier: Apache-2.0
/// What goes over an established connection: frames of a header and a payload. Numbers are
/// little-endian.
#pragma once

#include <cstdint>

namespace dlrt::tcp {

enum class FrameKind : std::uint32_t {
    message = 1,  ///< `first` and `second` are the MessageHeader.
    get = 2,      ///< Read `second` bytes at `first` for me; the payload is a GetRequest.
    data = 3,     ///< Of the get `first`, from its byte `second` on.
    goodbye = 4,  ///< The last frame. `first` is 1 when nobody needs the sender any more.
    lane = 5,     ///< The first frame of a connection that carries data only, both ways.
};

struct FrameHeader {
    std::uint32_t payload_bytes = 0;
    FrameKind kind{};
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};
static_assert(sizeof(FrameHeader) == 24);

struct GetRequest {
    std::uint64_t number = 0;  ///< The asker's own.
    std::uint64_t key = 0;
};
static_assert(sizeof(GetRequest) == 16);

inline constexpr std::uint32_t eager_bytes_max = 64 * 1024;
inline constexpr std::uint32_t fragment_bytes_max = 256 * 1024;
/// Long gets are answered piece by piece, so that small messages come in between.
inline constexpr std::uint32_t data_bytes_max = 512 * 1024;
/// Gets from this size on are answered over all interfaces that lead to the peer, by such pieces.
inline constexpr std::uint64_t shared_get_bytes_min = 1 << 20;
inline constexpr std::uint32_t shared_data_bytes_max = 128 * 1024;
inline constexpr std::size_t networks_max = 4;
inline constexpr std::size_t sockets_per_network_max = 4;
/// Beside the first connection.
inline constexpr std::size_t lanes_max = networks_max * sockets_per_network_max - 1;

}  // namespace dlrt::tcp
