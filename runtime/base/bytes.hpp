// SPDX-License-Identifier: Apache-2.0
/// Names for views of raw memory.
#pragma once

#include <cstddef>
#include <span>

namespace dlrt {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// Size of a cache line that two writers must not share. 128 covers the adjacent-line prefetch of
/// x86 and the 128-byte lines of some aarch64 parts; 64 is the unit in which a line travels.
inline constexpr std::size_t cache_line_bytes = 64;
inline constexpr std::size_t no_sharing_bytes = 128;

}  // namespace dlrt
