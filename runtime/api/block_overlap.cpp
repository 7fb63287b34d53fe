// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/block_overlap.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace dlrt::api {
namespace {

/// Memory that a block takes, from its first byte to behind its last.
struct Range {
    std::uintptr_t begin = std::numeric_limits<std::uintptr_t>::max();
    std::uintptr_t end = 0;
    std::size_t block = 0;
    bool has_gaps = false;
};

bool have_common_part(const Range& a, const Range& b) {
    return a.begin < b.end && b.begin < a.end;
}

Range range_of(std::uintptr_t origin, std::int64_t count, const Layout& layout) {
    Range range;
    range.has_gaps = !layout.is_contiguous();
    if (count == 0 || layout.size_bytes() == 0) return range;
    const std::int64_t last = (count - 1) * layout.extent_bytes();
    const std::int64_t lowest = layout.true_lower_bound_bytes() + std::min<std::int64_t>(last, 0);
    const std::int64_t highest = layout.true_lower_bound_bytes() + layout.true_extent_bytes() +
                                 std::max<std::int64_t>(last, 0);
    range.begin = origin + static_cast<std::uintptr_t>(lowest);
    range.end = origin + static_cast<std::uintptr_t>(highest);
    return range;
}

/// Calls use(range) for each block with data.
template<typename Use>
void visit(const void* base, const BlockList& list, Use use) {
    const auto origin = reinterpret_cast<std::uintptr_t>(base);
    std::int64_t next = 0;
    for (std::size_t i = 0; i < list.counts.size(); ++i) {
        const Layout& layout = **list.layouts[list.layouts.size() == 1 ? 0 : i];
        const std::int64_t extent = layout.extent_bytes();
        std::int64_t offset = next;
        if (!list.displacements.empty()) {
            const bool is_counted = list.displacement_unit == BlockList::Unit::extents;
            offset = list.displacements[i] * (is_counted ? extent : 1);
        }
        Range range = range_of(
            origin + static_cast<std::uintptr_t>(offset), list.counts[i], layout
        );
        range.block = i;
        if (range.begin < range.end) use(range);
        next += list.counts[i] * extent;
    }
}

template<typename Buffer, typename Use>
void visit(const Buffer& buffer, const BlockList* list, Use use) {
    if (list != nullptr) return visit(buffer.address, *list, use);
    if (buffer.layout == nullptr) return;
    const Range range = range_of(
        reinterpret_cast<std::uintptr_t>(buffer.address), static_cast<std::int64_t>(buffer.count),
        **buffer.layout
    );
    if (range.begin < range.end) use(range);
}

template<typename Buffer>
Range whole(const Buffer& buffer, const BlockList* list) {
    Range all;
    visit(buffer, list, [&](const Range& range) {
        all.begin = std::min(all.begin, range.begin);
        all.end = std::max(all.end, range.end);
    });
    return all;
}

template<typename Buffer>
std::vector<Range> sorted(const Buffer& buffer, const BlockList* list) {
    std::vector<Range> ranges;
    visit(buffer, list, [&](const Range& range) { ranges.push_back(range); });
    std::ranges::sort(ranges, {}, &Range::begin);
    return ranges;
}

bool is_overlap(const Range& a, const Range& b) {
    return a.has_gaps || b.has_gaps ? a.begin == b.begin : have_common_part(a, b);
}

std::string words_for(std::string_view name, const BlockList* list, const Range& range) {
    return list != nullptr ? fmt::format("block {} of {}", range.block, name) : std::string(name);
}

}  // namespace

Status check_apart(const Site& site, const CollectiveCall& call, const char* advice) {
    const Range read = whole(call.input, call.input_list);
    const Range written = whole(call.output, call.output_list);
    if (!have_common_part(read, written)) [[likely]]
        return {};
    const std::vector<Range> inputs = sorted(call.input, call.input_list);
    const std::vector<Range> outputs = sorted(call.output, call.output_list);
    for (const Range& input : inputs) {
        for (const Range& output : outputs) {
            if (output.begin >= input.end) break;
            if (!is_overlap(input, output)) continue;
            if (call.input.address == call.output.address) {
                return site.fail(Errc::buffer, "input and output are the same{}", advice);
            }
            return site.fail(
                Errc::buffer, "{} and {} overlap{}", words_for("input", call.input_list, input),
                words_for("output", call.output_list, output), advice
            );
        }
    }
    return {};
}

}  // namespace dlrt::api
