// SPDX-License-Identifier: Apache-2.0
#include "launcher/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace dlrt::launcher {

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
    std::string_view best;
    // One edit for short names, two for longer ones; more would be guessing.
    std::size_t best_distance = word.size() < 4 ? 2 : 3;
    for (const std::string_view name : names) {
        std::vector<std::size_t> row(name.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 1; i <= word.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i;
            for (std::size_t j = 1; j <= name.size(); ++j) {
                const std::size_t replaced = diagonal + (word[i - 1] == name[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
            }
        }
        if (row.back() < best_distance && row.back() < name.size()) {
            best_distance = row.back();
            best = name;
        }
    }
    return best;
}

}  // namespace dlrt::launcher
