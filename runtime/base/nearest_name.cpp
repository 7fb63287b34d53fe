// SPDX-License-Identifier: Apache-2.0
/// Optimal string alignment distance (Damerau 1964, each part edited once).
#include "runtime/base/nearest_name.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace dlrt {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(
        a.size() + 1, std::vector<std::size_t>(b.size() + 1)
    );
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
            const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a.size()][b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names) {
    constexpr std::size_t compared_bytes_max = 256;
    std::string_view nearest;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string_view name : names) {
        const std::size_t cost = distance(wanted.substr(0, compared_bytes_max), name);
        if (cost < least) {
            least = cost;
            nearest = name;
        }
    }
    return nearest;
}

}  // namespace dlrt
