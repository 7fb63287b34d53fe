// SPDX-License-Identifier: Apache-2.0
/// Optimal string alignment distance (Damerau 1964, each part edited once).
#include "runtime/base/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace dlrt {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(above);
        above.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
    // No name of ours is near to so long a word, which would take its time.
    constexpr std::size_t compared_bytes_max = 256;
    if (word.size() > compared_bytes_max) return {};
    std::string_view best;
    // One edit for short names, two for longer ones; more would be guessing.
    std::size_t best_distance = word.size() < 4 ? 2 : 3;
    for (const std::string_view name : names) {
        const std::size_t distance = edit_distance(word, name);
        if (distance < best_distance && distance < name.size()) {
            best_distance = distance;
            best = name;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
    const std::string_view near = nearest_name(word, names);
    if (!near.empty()) return fmt::format("did you mean {}?", near);
    return fmt::format("valid: {}", fmt::join(names, ", "));
}

}  // namespace dlrt
