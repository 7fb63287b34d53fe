// SPDX-License-Identifier: Apache-2.0
/// Sizes in bytes as users write them in settings. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace dlrt {

/// "4096", "64k", "1M", "2g": powers of 1024. Empty when it is none, or too large.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// From `begin_bytes` up to but not including `end_bytes`.
struct SizeRange {
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] bool contains(std::uint64_t size_bytes) const {
        return size_bytes >= begin_bytes && size_bytes < end_bytes;
    }
    friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

/// "from-end", of which one may be missing. Empty when it is none, or contains nothing.
[[nodiscard]] std::optional<SizeRange> parse_size_range(std::string_view text);

}  // namespace dlrt
