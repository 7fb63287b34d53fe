// SPDX-License-Identifier: Apache-2.0
/// From what the user asked for to what daemons do with their ranks' output. Pure, but for a look
/// whether the name for files is that of a folder.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/line_tagger.hpp"
#include "launcher/options.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace dlrt::launcher {

/// What is known of the job when its output is decided on.
struct OutputSurroundings {
    std::string_view working_directory;  ///< The caller's; empty: it has been deleted.
    std::uint32_t host_count = 1;
    bool is_stdin_terminal = false;
};

/// Errors: Errc::argument with the line to print.
[[nodiscard]] Result<OutputRule> make_output_rule(
    const OutputChoice& choice, const OutputSurroundings& surroundings
);

/// For dlrun's own streams. REQUIRES: make_output_rule() has taken the choice.
[[nodiscard]] LineTagger make_stream_tagger(const OutputChoice& choice, const JobMap& map);

}  // namespace dlrt::launcher
