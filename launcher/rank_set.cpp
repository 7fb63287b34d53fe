// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_set.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

std::optional<std::uint32_t> parse_number(std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return {};
    return number;
}

std::optional<RankSet::Range> parse_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
    if (!first || !last || *last < *first) return {};
    return RankSet::Range{*first, *last};
}

}  // namespace

RankSet::RankSet(std::vector<Range> ranges) {
    std::ranges::sort(ranges, {}, &Range::first);
    for (const Range& range : ranges) {
        const bool touches = !ranges_.empty() &&
                             range.first <= std::uint64_t{ranges_.back().last} + 1;
        if (touches) {
            ranges_.back().last = std::max(ranges_.back().last, range.last);
        } else {
            ranges_.push_back(range);
        }
    }
}

Result<RankSet> RankSet::parse(std::string_view text) {
    std::vector<Range> ranges;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const auto range = parse_range(rest.substr(0, comma));
        if (!range) {
            return fail(Errc::argument, "'{}' names no ranks; valid is a list like 0-3,7", text);
        }
        ranges.push_back(*range);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    return RankSet(std::move(ranges));
}

bool RankSet::contains(std::uint32_t rank) const noexcept {
    const auto after = std::ranges::upper_bound(ranges_, rank, {}, &Range::first);
    return after != ranges_.begin() && rank <= std::prev(after)->last;
}

std::string RankSet::text() const {
    std::string text;
    for (const Range& range : ranges_) {
        if (!text.empty()) text += ',';
        text += fmt::format("{}", range.first);
        if (range.last > range.first) text += fmt::format("-{}", range.last);
    }
    return text;
}

}  // namespace dlrt::launcher
