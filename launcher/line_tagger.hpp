// SPDX-License-Identifier: Apache-2.0
/// What the lines of a rank begin with: the time when they were read, the tag. Keeps each tag once
/// it is made.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/line_format.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// Where and when bytes of output came from.
struct LineOrigin {
    std::uint32_t rank = 0;
    StreamKind stream = StreamKind::out;
    std::int32_t pid = 0;
    std::uint64_t time_us = 0;  ///< Since 1970, of the rank's host.
};

enum class Timestamps : std::uint8_t { off, on };

class LineTagger {
  public:
    /// Neither tags nor times.
    LineTagger() = default;
    /// The map must outlive the tagger.
    LineTagger(const JobMap& map, LineFormat format, Timestamps timestamps);

    /// Valid until the next call; empty: lines stay as they are.
    [[nodiscard]] std::string_view prefix_of(const LineOrigin& origin);

  private:
    void add_time(std::uint64_t time_us);
    [[nodiscard]] const std::string& tag_of(const LineOrigin& origin);

    const JobMap* map_ = nullptr;
    LineFormat format_;
    Timestamps timestamps_ = Timestamps::off;
    std::vector<std::string> tags_;  ///< By rank and stream; empty: not made yet.
    std::uint64_t second_ = UINT64_MAX;
    std::string second_text_;
    std::string prefix_;
};

/// UTC with microseconds: 2026-01-31T09:05:07.000123Z.
[[nodiscard]] std::string timestamp_text(std::uint64_t time_us);

}  // namespace dlrt::launcher
