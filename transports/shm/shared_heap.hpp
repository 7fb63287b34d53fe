// SPDX-License-Identifier: Apache-2.0
/// Memory that ranks of a host read by loads: where a rank's own lies, and how to get at that of
/// the others.
#pragma once

#include "runtime/base/bytes.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace dlrt::shm {

/// A rank's own. It is mapped some time, by any thread, and then stays.
struct OwnHeap {
    std::atomic<std::byte*> begin{nullptr};
    std::uint64_t size_bytes = 0;  ///< Written before `begin`.

    /// Where the heap begins, if all of `memory` lies in it; else null.
    [[nodiscard]] const std::byte* find(Bytes memory) const {
        // Pairs with the release store of who has mapped it.
        const std::byte* const first = begin.load(std::memory_order_acquire);
        if (first == nullptr || memory.data() < first) return nullptr;
        const auto offset = static_cast<std::uint64_t>(memory.data() - first);
        return offset < size_bytes && memory.size() <= size_bytes - offset ? first : nullptr;
    }
};

/// Maps the first size_bytes of the heap of a local rank, for the life of the process or until it
/// is asked for more of it. Empty: it can't be had.
using MapPeerHeap = std::function<Bytes(std::uint32_t local_rank, std::uint64_t size_bytes)>;

/// The others' heaps, mapped as far as they have been read. One thread.
class PeerHeaps {
  public:
    PeerHeaps(std::uint32_t size, MapPeerHeap map) : map_(std::move(map)), peers_(size) {}

    /// Null when it can't be had; that is final for the peer.
    [[nodiscard]] const std::byte* find(
        std::uint32_t peer, std::uint64_t offset, std::uint64_t size_bytes
    ) {
        Peer& known = peers_[peer];
        if (size_bytes > known.bytes.size() || offset > known.bytes.size() - size_bytes) {
            if (!map_more(peer, offset, size_bytes)) return nullptr;
        }
        return known.bytes.data() + offset;
    }

  private:
    struct Peer {
        Bytes bytes;
        bool is_refused = false;
    };

    bool map_more(std::uint32_t peer, std::uint64_t offset, std::uint64_t size_bytes);

    MapPeerHeap map_;
    std::vector<Peer> peers_;
};

}  // namespace dlrt::shm
