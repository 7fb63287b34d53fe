// SPDX-License-Identifier: Apache-2.0
#include "launcher/tree_shape.hpp"

#include <algorithm>

namespace dlrt::launcher {

std::optional<std::uint32_t> TreeShape::parent(std::uint32_t member) const {
    if (member < width_) return std::nullopt;
    return member / width_ - 1;
}

std::vector<std::uint32_t> TreeShape::children(std::uint32_t member) const {
    std::vector<std::uint32_t> found;
    const std::uint64_t first = (std::uint64_t{member} + 1) * width_;
    for (std::uint64_t i = first; i < first + width_ && i < member_count_; ++i) {
        found.push_back(static_cast<std::uint32_t>(i));
    }
    return found;
}

std::uint32_t TreeShape::top_count() const {
    return std::min(member_count_, width_);
}

std::uint32_t TreeShape::top_of(std::uint32_t member) const {
    while (const auto above = parent(member)) member = *above;
    return member;
}

std::optional<std::uint32_t> TreeShape::next_hop(std::uint32_t from, std::uint32_t member) const {
    if (member >= member_count_) return std::nullopt;
    for (auto above = parent(member); above; above = parent(member)) {
        if (*above == from) return member;
        member = *above;
    }
    return std::nullopt;
}

}  // namespace dlrt::launcher
