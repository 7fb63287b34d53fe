// SPDX-License-Identifier: Apache-2.0
/// Brings the output of all ranks into one order, without ever mixing two ranks in one line. Pure.
///
/// Daemons send whole lines. Only a very long line, or a question to the user, comes in parts:
/// others then wait for its end, until release() breaks it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// What is written in one piece, and what its writing is to be credited to.
struct OutputItem {
    std::uint32_t rank = UINT32_MAX;
    std::size_t credit_bytes = 0;  ///< Of the rank's own bytes.
    std::string text;
};

class LineMerger {
  public:
    /// Adds bytes of a rank, each of its lines to begin with `prefix`; what may be written now is
    /// appended to `ready`.
    void add(
        std::uint32_t rank, std::string_view prefix, std::string bytes,
        std::vector<OutputItem>& ready
    );
    /// A line of dlrun's own, without its newline.
    void add_own_line(std::string_view line, std::vector<OutputItem>& ready);
    /// Somebody waits for the end of another rank's line.
    [[nodiscard]] bool is_holding() const { return !held_.empty(); }
    /// Breaks the open line and lets those that wait go on.
    void release(std::vector<OutputItem>& ready);

  private:
    struct Held {
        std::uint32_t rank;
        std::string prefix;
        std::string bytes;
    };
    void emit(
        std::uint32_t rank, std::string_view prefix, std::string bytes,
        std::vector<OutputItem>& ready
    );
    void emit_held(std::vector<OutputItem>& ready);
    [[nodiscard]] bool may_pass(std::uint32_t rank) const {
        return open_rank_ < 0 || open_rank_ == rank;
    }
    [[nodiscard]] std::string with_prefixes(std::string_view prefix, std::string_view bytes) const;

    std::int64_t open_rank_ = -1;  ///< Whose line has begun and not ended.
    bool is_broken_ = false;       ///< What was written last lacks its newline, and nobody owns it.
    std::deque<Held> held_;
};

}  // namespace dlrt::launcher
