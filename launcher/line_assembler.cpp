// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_assembler.hpp"

#include <utility>

namespace dlrt::launcher {

std::string_view LineAssembler::append(std::string_view bytes) {
    const std::size_t newline = bytes.rfind('\n');
    if (newline == std::string_view::npos) {
        partial_ += bytes;
        return partial_.size() >= line_bytes_max ? take_partial() : std::string_view();
    }
    is_in_line_ = false;
    const std::string_view whole = bytes.substr(0, newline + 1);
    const std::string_view rest = bytes.substr(newline + 1);
    if (partial_.empty()) {
        partial_ = rest;
        return whole;
    }
    ready_ = std::move(partial_);
    ready_ += whole;
    partial_ = rest;
    return ready_;
}

std::string_view LineAssembler::finish() {
    if (partial_.empty() && !is_in_line_) return {};
    ready_ = std::exchange(partial_, {});
    ready_ += '\n';
    is_in_line_ = false;
    return ready_;
}

std::string_view LineAssembler::take_partial() {
    ready_ = std::exchange(partial_, {});
    is_in_line_ = is_in_line_ || !ready_.empty();
    return ready_;
}

}  // namespace dlrt::launcher
