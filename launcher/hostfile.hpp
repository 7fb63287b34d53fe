// SPDX-License-Identifier: Apache-2.0
/// A hostfile: a host and its settings on each line.
///
///   [user@]host[:N] [slots=N] [max_slots=M] [user=U] [port=P] [prefix=FOLDER]  # comment
///
/// Blanks may stand round "=", values may stand in double quotes; "#" and "//" begin a comment up
/// to the end of the line, "/* */" encloses one. The spellings of other launchers that mean the
/// same are understood, and so is a list that names a host once for each slot ($PBS_NODEFILE).
#pragma once

#include "launcher/host_list.hpp"
#include "runtime/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

inline constexpr std::size_t hostfile_bytes_max = 16u << 20;

/// Pure; `file_name` is only for messages, which are one line with file, line and column.
/// Errors: Errc::argument; a file that names no host is one.
[[nodiscard]] Result<std::vector<HostMention>> parse_hostfile(
    std::string_view text, std::string_view file_name
);

/// Errors: as above, and Errc::system for a file that can't be read.
[[nodiscard]] Result<std::vector<HostMention>> read_hostfile(const std::string& file_name);

}  // namespace dlrt::launcher
