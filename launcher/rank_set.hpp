// SPDX-License-Identifier: Apache-2.0
/// A set of ranks as users write it: "0-3,7". A value; knows no job.
#pragma once

#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

class RankSet {
  public:
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t last = 0;  ///< Included.
        friend bool operator==(const Range&, const Range&) = default;
    };

    RankSet() = default;
    /// In any order, overlapping or touching; kept sorted and merged.
    explicit RankSet(std::vector<Range> ranges);

    /// "0-3,7". Errors: Errc::argument, with what is wrong and what is valid.
    [[nodiscard]] static Result<RankSet> parse(std::string_view text);

    [[nodiscard]] bool contains(std::uint32_t rank) const noexcept;
    [[nodiscard]] bool is_empty() const noexcept { return ranges_.empty(); }
    /// The highest member. Only of a set that isn't empty.
    [[nodiscard]] std::uint32_t last() const noexcept { return ranges_.back().last; }
    /// As parse() reads it: "0-3,7".
    [[nodiscard]] std::string text() const;

    friend bool operator==(const RankSet&, const RankSet&) = default;

  private:
    std::vector<Range> ranges_;
};

}  // namespace dlrt::launcher
