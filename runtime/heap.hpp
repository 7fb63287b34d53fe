// SPDX-License-Identifier: Apache-2.0
/// The shared heap: memory for buffers which the other ranks of the host read by loads. A rank
/// allocates in its own region and never in another's; what says where blocks are lies in private
/// memory, out of reach of whoever writes beyond a block.
///
/// Threads: any, one after the other within.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/host_heap.hpp"
#include "transports/shm/shared_heap.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace dlrt {

/// Which parts of a range of addresses are in use: pure.
class BlockMap {
  public:
    struct Block {
        std::uint64_t begin_bytes = 0;
        std::uint64_t size_bytes = 0;
        friend bool operator==(const Block&, const Block&) = default;
    };

    explicit BlockMap(std::uint64_t size_bytes);

    /// Of the smallest gap that holds it. False: none does.
    [[nodiscard]] bool take(
        std::uint64_t size_bytes, std::uint64_t alignment_bytes, std::uint64_t& begin_bytes
    );
    /// Gives back the block that begins there. False: none does. `gap`: what is free around it now.
    [[nodiscard]] bool give_back(std::uint64_t begin_bytes, Block& block, Block& gap);

    [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }
    [[nodiscard]] std::uint64_t largest_gap_bytes() const;
    [[nodiscard]] std::size_t block_count() const { return used_.size(); }

  private:
    void add_gap(const Block& gap);
    void remove_gap(std::map<std::uint64_t, std::uint64_t>::iterator gap);

    std::map<std::uint64_t, std::uint64_t> used_;  ///< Size by begin.
    std::map<std::uint64_t, std::uint64_t> gaps_;  ///< The same; no two touch.
    std::set<std::pair<std::uint64_t, std::uint64_t>> gaps_by_size_;
    std::uint64_t used_bytes_ = 0;
};

class DLRT_CORE Heap {
  public:
    /// By local rank. They outlive the heap. `limit_bytes`: at most so much of the own region.
    Heap(std::vector<HeapRegion> regions, std::uint32_t local_rank, std::uint64_t limit_bytes);
    /// Unmaps everything, its own blocks too.
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    /// At least `size_bytes`, aligned to 64 bytes, from 4 KiB on to 4 KiB; its content is
    /// undefined. Maps the region when it is called first. REQUIRES: size_bytes != 0. Errors:
    /// Errc::no_memory, with the limit.
    [[nodiscard]] Result<void*> allocate(std::uint64_t size_bytes);
    /// Errors: Errc::argument when no block in use begins there.
    Status free(void* address);

    struct Use {
        std::size_t block_count = 0;
        std::uint64_t size_bytes = 0;
    };
    [[nodiscard]] Use use() const;
    [[nodiscard]] const shm::OwnHeap& own() const { return own_; }
    /// See MapPeerHeap; called by one thread at a time.
    [[nodiscard]] Bytes map_peer(std::uint32_t local_rank, std::uint64_t size_bytes);

  private:
    [[nodiscard]] const HeapRegion& own_region() const { return regions_[local_rank_]; }
    Status map_own();

    std::vector<HeapRegion> regions_;
    std::uint32_t local_rank_;
    std::uint64_t limit_bytes_;
    mutable std::mutex mutex_;
    BlockMap blocks_;
    shm::OwnHeap own_;
    std::vector<MutableBytes> peers_;
};

/// What a rank may use where the user says nothing: the memory of the host.
[[nodiscard]] std::uint64_t standard_heap_limit_bytes();

}  // namespace dlrt
