// SPDX-License-Identifier: Apache-2.0
/// Strings that are returned in the caller's memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace dlrt::mpi {

/// At most `capacity` characters, the final 0 among them; the length is that of what is written.
inline void write_text(std::string_view text, std::size_t capacity, char* target, int* length) {
    const std::string_view kept = text.substr(0, capacity - 1);
    std::copy(kept.begin(), kept.end(), target);
    target[kept.size()] = '\0';
    *length = static_cast<int>(kept.size());
}

}  // namespace dlrt::mpi
