// SPDX-License-Identifier: Apache-2.0
/// The transport between ranks of one host, over the transport area of the host segment.
#pragma once

#include "runtime/base/doorbell.hpp"
#include "runtime/base/result.hpp"
#include "transports/shm/copy_table.hpp"
#include "transports/shm/shared_heap.hpp"
#include "transports/transport.hpp"

#include <functional>
#include <memory>

namespace dlrt::shm {

struct Options {
    MutableBytes area;  ///< Zero when the first rank opens it; shared by all local ranks.
    std::uint32_t local_rank = 0;
    std::uint32_t local_size = 1;
    Doorbell* doorbells = nullptr;  ///< Array by local rank, in shared memory.
    RingFence ring_fence = RingFence::full;
    /// Wakes a peer that sleeps on descriptors (Doorbell::ring said so).
    std::function<void(std::uint32_t local_rank)> write_doorbell_descriptor;
    CopyTable copy_table;               ///< Which large messages go which way.
    bool allow_cross_memory = true;     ///< False: never try process_vm_readv (DLRT_CMA=0).
    const OwnHeap* own_heap = nullptr;  ///< Not owned; may be null.
    MapPeerHeap map_peer_heap;          ///< May be empty.
};

/// Peers need not be there yet: what they are sent waits in the area.
/// Errors: Errc::limit when the area is smaller than area_size_bytes(local_size).
[[nodiscard]] Result<std::unique_ptr<Endpoint>> open_endpoint(Options options);

/// local_size * 4 MiB + local_size^2 * 128 KiB: address space, not memory, since only what is used
/// is ever touched. runtime/wireup/host_segment.cpp states the same formula. The area begins on a
/// page.
[[nodiscard]] std::uint64_t area_size_bytes(std::uint32_t local_size);

}  // namespace dlrt::shm
