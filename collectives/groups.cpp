// SPDX-License-Identifier: Apache-2.0
/// Numbers groups, and reads them.
#include "collectives/groups.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"

#include <charconv>
#include <map>
#include <optional>

namespace dlrt::coll {
namespace {

constexpr std::uint32_t unmarked = UINT32_MAX;

std::optional<std::int32_t> number_in(std::string_view text) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && value >= 0;
    return is_number ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

using Marks = std::vector<std::uint32_t>;

Status complain(std::string_view text, std::string_view reason) {
    return fail(
        Errc::argument, "'{}' {}; valid: 4, 2x4, 3+1+4, cyclic:3 or 0-2,5/3,4 (ranks by group)",
        text, reason
    );
}

/// Neighbours; the last of the sizes goes on if it may.
enum class End : std::uint8_t { exact, repeat };
std::optional<Marks> neighbours(
    const std::vector<std::int32_t>& sizes, std::int32_t size, End end
) {
    Marks marks;
    std::uint32_t group = 0;
    for (const std::int32_t count : sizes) {
        if (count < 1 || count > size - static_cast<std::int32_t>(marks.size())) return {};
        marks.insert(marks.end(), static_cast<std::size_t>(count), group++);
    }
    const auto last = static_cast<std::size_t>(sizes.back());
    while (end == End::repeat && static_cast<std::int32_t>(marks.size()) < size) {
        const std::size_t left = static_cast<std::size_t>(size) - marks.size();
        marks.insert(marks.end(), std::min(last, left), group++);
    }
    if (static_cast<std::int32_t>(marks.size()) != size) return {};
    return marks;
}

/// "0-2,5/3,4": every rank once.
std::optional<Marks> listed(std::string_view text, std::int32_t size) {
    Marks marks(static_cast<std::size_t>(size), unmarked);
    std::uint32_t group = 0;
    std::int32_t marked = 0;
    for (const std::string_view members : parts_of(text, '/')) {
        for (const std::string_view range : parts_of(members, ',')) {
            const std::size_t dash = range.find('-');
            const auto first = number_in(range.substr(0, dash));
            const auto last = dash == std::string_view::npos ? first
                                                             : number_in(range.substr(dash + 1));
            if (!first || !last || *first > *last || *last >= size) return {};
            for (std::int32_t rank = *first; rank <= *last; ++rank, ++marked) {
                std::uint32_t& mark = marks[static_cast<std::size_t>(rank)];
                if (mark != unmarked) return {};
                mark = group;
            }
        }
        ++group;
    }
    if (marked != size) return {};
    return marks;
}

std::optional<Marks> sized(std::string_view text, std::int32_t size) {
    std::vector<std::int32_t> sizes;
    for (const std::string_view part : parts_of(text, '+')) {
        const auto count = number_in(part);
        if (!count) return {};
        sizes.push_back(*count);
    }
    if (sizes.size() > 1) return neighbours(sizes, size, End::exact);
    return neighbours({std::min(sizes[0], size)}, size, End::repeat);
}

std::optional<Marks> multiplied(std::string_view text, std::size_t cross, std::int32_t size) {
    const auto count = number_in(text.substr(0, cross));
    const auto each = number_in(text.substr(cross + 1));
    if (!count || !each || *count < 1 || *count > size) return {};
    return neighbours(
        std::vector<std::int32_t>(static_cast<std::size_t>(*count), *each), size, End::exact
    );
}

std::optional<Marks> cyclic(std::string_view text, std::int32_t size) {
    const auto count = number_in(text);
    if (!count || *count < 1) return {};
    Marks marks;
    for (std::int32_t rank = 0; rank < size; ++rank)
        marks.push_back(static_cast<std::uint32_t>(rank % *count));
    return marks;
}

}  // namespace

Groups Groups::whole(std::int32_t size) {
    return of(Marks(static_cast<std::size_t>(size), 0));
}

Groups Groups::of(std::span<const std::uint32_t> marks) {
    DLRT_ASSERT(!marks.empty());
    Groups result;
    std::map<std::uint32_t, std::int32_t> numbers;
    std::vector<std::vector<std::int32_t>> members;
    for (const std::uint32_t mark : marks) {
        const auto next = static_cast<std::int32_t>(members.size());
        const auto [known, is_new] = numbers.try_emplace(mark, next);
        if (is_new) members.emplace_back();
        members[index(known->second)].push_back(static_cast<std::int32_t>(result.groups_.size()));
        result.groups_.push_back(known->second);
    }
    result.positions_.resize(marks.size());
    result.begins_.push_back(0);
    for (const std::vector<std::int32_t>& ranks : members) {
        for (const std::int32_t rank : ranks) {
            const auto position = static_cast<std::int32_t>(result.ranks_.size());
            result.is_consecutive_ = result.is_consecutive_ && rank == position;
            result.positions_[index(rank)] = position;
            result.ranks_.push_back(rank);
        }
        result.is_even_ = result.is_even_ && ranks.size() == members.front().size();
        result.begins_.push_back(static_cast<std::int32_t>(result.ranks_.size()));
    }
    return result;
}

Result<Groups> Groups::parse(std::string_view text, std::int32_t size) {
    constexpr std::string_view cyclic_prefix = "cyclic:";
    std::optional<Marks> marks;
    if (const std::size_t cross = text.find('x'); cross != std::string_view::npos) {
        marks = multiplied(text, cross, size);
    } else if (text.starts_with(cyclic_prefix)) {
        marks = cyclic(text.substr(cyclic_prefix.size()), size);
    } else if (text.find_first_of("/,-") != std::string_view::npos) {
        marks = listed(text, size);
    } else {
        marks = sized(text, size);
    }
    if (!marks) return complain(text, fmt::format("does not divide {} ranks into groups", size));
    return of(*marks);
}

}  // namespace dlrt::coll
