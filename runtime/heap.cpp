// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

namespace dlrt {
namespace {

constexpr std::uint64_t line_bytes = 64;
/// Blocks from here on have pages of their own, which go back to the system with them.
constexpr std::uint64_t page_bytes = 4096;

std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) {
    return value / unit * unit;
}
std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return round_down(value + unit - 1, unit);
}

std::uint64_t alignment_of(std::uint64_t size_bytes) {
    return size_bytes < page_bytes ? line_bytes : page_bytes;
}

}  // namespace

// ---- BlockMap ----

BlockMap::BlockMap(std::uint64_t size_bytes) {
    if (size_bytes != 0) add_gap({0, size_bytes});
}

void BlockMap::add_gap(const Block& gap) {
    gaps_.emplace(gap.begin_bytes, gap.size_bytes);
    gaps_by_size_.emplace(gap.size_bytes, gap.begin_bytes);
}

void BlockMap::remove_gap(std::map<std::uint64_t, std::uint64_t>::iterator gap) {
    gaps_by_size_.erase({gap->second, gap->first});
    gaps_.erase(gap);
}

bool BlockMap::take(
    std::uint64_t size_bytes, std::uint64_t alignment_bytes, std::uint64_t& begin_bytes
) {
    auto fitting = gaps_by_size_.lower_bound({size_bytes, 0});
    std::uint64_t begin = 0;
    for (; fitting != gaps_by_size_.end(); ++fitting) {
        begin = round_up(fitting->second, alignment_bytes);
        if (begin + size_bytes <= fitting->second + fitting->first) break;
    }
    if (fitting == gaps_by_size_.end()) return false;
    const Block gap{fitting->second, fitting->first};
    remove_gap(gaps_.find(gap.begin_bytes));
    const std::uint64_t end = begin + size_bytes;
    const std::uint64_t gap_end = gap.begin_bytes + gap.size_bytes;
    if (begin > gap.begin_bytes) add_gap({gap.begin_bytes, begin - gap.begin_bytes});
    if (end < gap_end) add_gap({end, gap_end - end});
    used_.emplace(begin, size_bytes);
    used_bytes_ += size_bytes;
    begin_bytes = begin;
    return true;
}

bool BlockMap::give_back(std::uint64_t begin_bytes, Block& block, Block& gap) {
    const auto found = used_.find(begin_bytes);
    if (found == used_.end()) return false;
    block = {found->first, found->second};
    gap = block;
    used_bytes_ -= block.size_bytes;
    used_.erase(found);
    const auto after = gaps_.find(block.begin_bytes + block.size_bytes);
    if (after != gaps_.end()) {
        gap.size_bytes += after->second;
        remove_gap(after);
    }
    const auto next = gaps_.lower_bound(block.begin_bytes);
    if (next != gaps_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == block.begin_bytes) {
            gap.begin_bytes = before->first;
            gap.size_bytes += before->second;
            remove_gap(before);
        }
    }
    add_gap(gap);
    return true;
}

std::uint64_t BlockMap::largest_gap_bytes() const {
    return gaps_by_size_.empty() ? 0 : gaps_by_size_.rbegin()->first;
}

// ---- Heap ----

Heap::Heap(std::vector<HeapRegion> regions, std::uint32_t local_rank, std::uint64_t limit_bytes)
    : regions_(std::move(regions)),
      local_rank_(local_rank),
      limit_bytes_(round_down(std::min(limit_bytes, own_region().size_bytes), page_bytes)),
      blocks_(limit_bytes_),
      peers_(regions_.size()) {
}

Heap::~Heap() {
    for (const MutableBytes& peer : peers_) {
        if (!peer.empty()) ::munmap(peer.data(), peer.size());
    }
    std::byte* const begin = own_.begin.load(std::memory_order_relaxed);
    if (begin == nullptr) return;
    ::munmap(begin, own_.size_bytes);
    punch_hole(own_region(), 0, own_.size_bytes);
}

Status Heap::map_own() {
    if (own_.begin.load(std::memory_order_relaxed) != nullptr) return {};
    const Result<MutableBytes> bytes = map_heap(own_region(), limit_bytes_);
    if (!bytes) return bytes.error();
    own_.size_bytes = bytes->size();
    // Pairs with OwnHeap::find().
    own_.begin.store(bytes->data(), std::memory_order_release);
    return {};
}

Result<void*> Heap::allocate(std::uint64_t size_bytes) {
    const std::lock_guard lock(mutex_);
    if (own_region().size_bytes == 0) {
        return fail(
            Errc::no_memory,
            "{} bytes: this job has no shared heap, since 'ulimit -f' forbids files of its size",
            size_bytes
        );
    }
    std::uint64_t begin = 0;
    const std::uint64_t unit = alignment_of(size_bytes);
    // The first comparison keeps the rounding from running over.
    if (size_bytes > limit_bytes_ || !blocks_.take(round_up(size_bytes, unit), unit, begin)) {
        return fail(
            Errc::no_memory,
            "{} bytes: of the {} that this rank may have (DLRT_HEAP_BYTES), {} are in use and at "
            "most {} are free in one piece",
            size_bytes, limit_bytes_, blocks_.used_bytes(), blocks_.largest_gap_bytes()
        );
    }
    if (const Status mapped = map_own(); !mapped.ok()) {
        BlockMap::Block block, gap;
        static_cast<void>(blocks_.give_back(begin, block, gap));
        const std::string reason = last_error_text();
        return fail(Errc::no_memory, "{} bytes: {}", size_bytes, reason);
    }
    return static_cast<void*>(own_.begin.load(std::memory_order_relaxed) + begin);
}

Status Heap::free(void* address) {
    const std::lock_guard lock(mutex_);
    const std::byte* const first = own_.find({static_cast<const std::byte*>(address), 1});
    if (first == nullptr) {
        return fail(Errc::argument, "{} is not memory of dlrt_alloc", address);
    }
    BlockMap::Block block, gap;
    const auto begin = static_cast<std::uint64_t>(static_cast<std::byte*>(address) - first);
    if (!blocks_.give_back(begin, block, gap)) {
        return fail(
            Errc::argument,
            "no block of dlrt_alloc begins at {}: it has been freed already, or the address lies "
            "within a block",
            address
        );
    }
    // The pages that it shared with its neighbours go when the last of them goes.
    const auto system_page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t block_end = round_up(
        block.begin_bytes + block.size_bytes, system_page_bytes
    );
    const std::uint64_t from = std::max(
        gap.begin_bytes, round_down(block.begin_bytes, system_page_bytes)
    );
    const std::uint64_t to = std::min(gap.begin_bytes + gap.size_bytes, block_end);
    punch_hole(own_region(), from, to - from);
    return {};
}

Heap::Use Heap::use() const {
    const std::lock_guard lock(mutex_);
    return {blocks_.block_count(), blocks_.used_bytes()};
}

Bytes Heap::map_peer(std::uint32_t local_rank, std::uint64_t size_bytes) {
    const HeapRegion& region = regions_[local_rank];
    MutableBytes& mapped = peers_[local_rank];
    if (!mapped.empty()) ::munmap(mapped.data(), mapped.size());
    mapped = {};
    if (size_bytes > region.size_bytes) return {};
    if (const Result<MutableBytes> bytes = map_heap(region, size_bytes); bytes) mapped = *bytes;
    return mapped;
}

std::uint64_t standard_heap_limit_bytes() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long bytes_per_page = ::sysconf(_SC_PAGESIZE);
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes_per_page);
}

}  // namespace dlrt
