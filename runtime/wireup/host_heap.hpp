// SPDX-License-Identifier: Apache-2.0
/// The part of the host segment's file that HostSegment doesn't map: a region of shared memory for
/// each local rank. It is sparse, so that a region costs address space of the file only, and who
/// needs one maps as much of it as he needs.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/host_segment.hpp"

#include <cstdint>
#include <vector>

namespace dlrt {

/// Of each local rank: a power of two, 16 GiB to 1 TiB.
[[nodiscard]] std::uint64_t heap_region_bytes(std::uint32_t local_size);

/// Where the regions begin in a file whose other parts end at `end_bytes`.
[[nodiscard]] std::uint64_t heap_offset_bytes(std::uint64_t end_bytes);

/// The whole file with the regions of that many ranks.
[[nodiscard]] std::uint64_t file_bytes_with_heap(std::uint64_t end_bytes, std::uint32_t local_size);

/// One region of a file.
struct HeapRegion {
    int descriptor = -1;
    std::uint64_t offset_bytes = 0;
    std::uint64_t size_bytes = 0;  ///< 0: the file has none ('ulimit -f' forbade it).
};

/// By local rank.
[[nodiscard]] std::vector<HeapRegion> heap_regions(const HostSegment& segment);

/// Maps the beginning of a region; the caller unmaps. REQUIRES: size_bytes <= region.size_bytes.
/// Errors: Errc::system.
[[nodiscard]] Result<MutableBytes> map_heap(const HeapRegion& region, std::uint64_t size_bytes);

/// Gives the pages that lie within that part of the region back to the system: they are zero when
/// they are touched again, in whatever process.
void punch_hole(const HeapRegion& region, std::uint64_t begin_bytes, std::uint64_t size_bytes);

}  // namespace dlrt
