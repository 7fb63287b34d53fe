// SPDX-License-Identifier: Apache-2.0
/// Who passes whose frames on where daemons form a tree below the head: members are numbered level
/// by level, so that the first `width` of them are the head's own children. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace dlrt::launcher {

class TreeShape {
  public:
    TreeShape() = default;
    /// REQUIRES: width > 0.
    TreeShape(std::uint32_t member_count, std::uint32_t width)
        : member_count_(member_count), width_(width) {}

    [[nodiscard]] std::uint32_t member_count() const { return member_count_; }
    [[nodiscard]] std::uint32_t width() const { return width_; }
    /// Nothing: the head.
    [[nodiscard]] std::optional<std::uint32_t> parent(std::uint32_t member) const;
    [[nodiscard]] std::vector<std::uint32_t> children(std::uint32_t member) const;
    /// Of the head.
    [[nodiscard]] std::uint32_t top_count() const;
    /// The head's child through which it reaches that member; itself where it is one.
    [[nodiscard]] std::uint32_t top_of(std::uint32_t member) const;
    /// The child of `from` that is, or leads to, `member`; nothing where that isn't below it.
    [[nodiscard]] std::optional<std::uint32_t> next_hop(std::uint32_t from, std::uint32_t member)
        const;
    [[nodiscard]] bool is_below(std::uint32_t member, std::uint32_t ancestor) const {
        return next_hop(ancestor, member).has_value();
    }

  private:
    std::uint32_t member_count_ = 0;
    std::uint32_t width_ = 1;
};

}  // namespace dlrt::launcher
