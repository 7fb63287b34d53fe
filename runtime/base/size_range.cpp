// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/size_range.hpp"

#include <charconv>

namespace dlrt {

std::optional<std::uint64_t> parse_size(std::string_view text) {
    unsigned shift = 0;
    if (!text.empty()) {
        const std::size_t unit = std::string_view("kmgKMG").find(text.back());
        if (unit != std::string_view::npos) {
            shift = 10 * (static_cast<unsigned>(unit % 3) + 1);
            text.remove_suffix(1);
        }
    }
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
    if (value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
    return value << shift;
}

std::optional<SizeRange> parse_size_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos || text == "-") return std::nullopt;
    const std::string_view begin_text = text.substr(0, dash);
    const std::string_view end_text = text.substr(dash + 1);
    const SizeRange all;
    const auto begin = begin_text.empty() ? std::optional(all.begin_bytes) : parse_size(begin_text);
    const auto end = end_text.empty() ? std::optional(all.end_bytes) : parse_size(end_text);
    if (!begin || !end || *begin >= *end) return std::nullopt;
    return SizeRange{*begin, *end};
}

}  // namespace dlrt
