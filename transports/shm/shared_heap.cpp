// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/shared_heap.hpp"

#include <algorithm>
#include <bit>

namespace dlrt::shm {
namespace {

/// What is mapped first; then as much again whenever it doesn't reach.
constexpr std::uint64_t first_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t heap_bytes_max = std::uint64_t{1} << 40;

}  // namespace

bool PeerHeaps::map_more(std::uint32_t peer, std::uint64_t offset, std::uint64_t size_bytes) {
    Peer& known = peers_[peer];
    if (known.is_refused || !map_) return false;
    const bool is_possible = size_bytes <= heap_bytes_max && offset <= heap_bytes_max - size_bytes;
    if (is_possible)
        known.bytes = map_(peer, std::max(std::bit_ceil(offset + size_bytes), first_bytes));
    known.is_refused = !is_possible || known.bytes.size() < offset + size_bytes;
    return !known.is_refused;
}

}  // namespace dlrt::shm
