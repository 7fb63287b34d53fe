// SPDX-License-Identifier: Apache-2.0
#include "runtime/wireup/host_heap.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlrt {
namespace {

/// Of all regions together: well below what a process can address.
constexpr std::uint64_t all_regions_bytes = std::uint64_t{16} << 40;
constexpr std::uint64_t region_bytes_max = std::uint64_t{1} << 40;
/// A large page.
constexpr std::uint64_t alignment_bytes = std::uint64_t{2} << 20;

}  // namespace

std::uint64_t heap_region_bytes(std::uint32_t local_size) {
    DLRT_ASSERT(local_size != 0);
    return std::min(std::bit_floor(all_regions_bytes / local_size), region_bytes_max);
}

std::uint64_t heap_offset_bytes(std::uint64_t end_bytes) {
    return (end_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

std::uint64_t file_bytes_with_heap(std::uint64_t end_bytes, std::uint32_t local_size) {
    return heap_offset_bytes(end_bytes) + local_size * heap_region_bytes(local_size);
}

std::vector<HeapRegion> heap_regions(const HostSegment& segment) {
    const std::uint64_t end_bytes = segment.header().total_size;
    const std::uint32_t local_size = segment.header().local_size;
    struct stat info {};
    const bool is_there = ::fstat(segment.descriptor(), &info) == 0 &&
                          static_cast<std::uint64_t>(info.st_size) ==
                              file_bytes_with_heap(end_bytes, local_size);
    const std::uint64_t size_bytes = is_there ? heap_region_bytes(local_size) : 0;
    std::vector<HeapRegion> regions;
    for (std::uint64_t rank = 0; rank < local_size; ++rank) {
        const std::uint64_t offset = heap_offset_bytes(end_bytes) + rank * size_bytes;
        regions.push_back({segment.descriptor(), offset, size_bytes});
    }
    return regions;
}

Result<MutableBytes> map_heap(const HeapRegion& region, std::uint64_t size_bytes) {
    void* const address = ::mmap(
        nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, region.descriptor,
        static_cast<off_t>(region.offset_bytes)
    );
    if (address == MAP_FAILED) {
        const int error = errno;
        const char* hint = error == ENOMEM ? ", perhaps more than 'ulimit -v' allows" : "";
        return fail_errno(error, "map {} bytes of shared memory{}", size_bytes, hint);
    }
    return MutableBytes{static_cast<std::byte*>(address), size_bytes};
}

void punch_hole(const HeapRegion& region, std::uint64_t begin_bytes, std::uint64_t size_bytes) {
    const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t begin = (begin_bytes + page_bytes - 1) / page_bytes * page_bytes;
    const std::uint64_t end = (begin_bytes + size_bytes) / page_bytes * page_bytes;
    if (begin >= end) return;
    // Where it fails the pages stay, which is no fault that anybody could do something about.
    static_cast<void>(::fallocate(
        region.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
        static_cast<off_t>(region.offset_bytes + begin), static_cast<off_t>(end - begin)
    ));
}

}  // namespace dlrt
