// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_merger.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {

void LineMerger::add(
    std::uint32_t rank, std::string_view prefix, std::string bytes, std::vector<OutputItem>& ready
) {
    if (bytes.empty()) return;
    if (!may_pass(rank)) {
        held_.push_back({rank, std::string(prefix), std::move(bytes)});
        return;
    }
    emit(rank, prefix, std::move(bytes), ready);
    emit_held(ready);
}

void LineMerger::add_own_line(std::string_view line, std::vector<OutputItem>& ready) {
    const bool is_in_line = open_rank_ >= 0 || is_broken_;
    open_rank_ = -1;
    is_broken_ = false;
    ready.push_back({UINT32_MAX, 0, fmt::format("{}{}\n", is_in_line ? "\n" : "", line)});
    emit_held(ready);
}

void LineMerger::release(std::vector<OutputItem>& ready) {
    if (held_.empty() || open_rank_ < 0) return;
    open_rank_ = -1;
    is_broken_ = true;
    emit_held(ready);
}

void LineMerger::emit(
    std::uint32_t rank, std::string_view prefix, std::string bytes, std::vector<OutputItem>& ready
) {
    const std::size_t credit_bytes = bytes.size();
    const bool ends_line = bytes.back() == '\n';
    if (!prefix.empty()) bytes = with_prefixes(prefix, bytes);
    if (is_broken_) bytes.insert(bytes.begin(), '\n');
    is_broken_ = false;
    open_rank_ = ends_line ? -1 : static_cast<std::int64_t>(rank);
    ready.push_back({rank, credit_bytes, std::move(bytes)});
}

void LineMerger::emit_held(std::vector<OutputItem>& ready) {
    while (true) {
        const auto next = std::ranges::find_if(held_, [this](const Held& held) {
            return may_pass(held.rank);
        });
        if (next == held_.end()) return;
        Held held = std::move(*next);
        held_.erase(next);
        emit(held.rank, held.prefix, std::move(held.bytes), ready);
    }
}

std::string LineMerger::with_prefixes(std::string_view prefix, std::string_view bytes) const {
    const auto line_count = static_cast<std::size_t>(std::ranges::count(bytes, '\n')) + 1;
    std::string result;
    result.reserve(bytes.size() + line_count * prefix.size());
    bool is_line_start = open_rank_ < 0;
    while (!bytes.empty()) {
        const std::size_t newline = bytes.find('\n');
        const std::size_t length = newline == std::string_view::npos ? bytes.size() : newline + 1;
        if (is_line_start) result += prefix;
        result += bytes.substr(0, length);
        bytes.remove_prefix(length);
        is_line_start = true;
    }
    return result;
}

}  // namespace dlrt::launcher
