// SPDX-License-Identifier: Apache-2.0
/// Where a program is that was named on the command line, by the rules of a shell.
#pragma once

#include <string>
#include <string_view>

namespace dlrt::launcher {

struct ProgramPath {
    std::string path;     ///< Absolute; empty when it can't be run.
    int exit_status = 0;  ///< 127 not found, 126 found but not executable.
    std::string problem;  ///< One clause that names it: "'./x' is not executable".
};

/// A name with a slash is relative to `working_directory`; any other is searched in `search_path`
/// (the value of PATH), whose relative entries are relative to that folder as well.
[[nodiscard]] ProgramPath find_program(
    std::string_view name, std::string_view search_path, std::string_view working_directory
);

}  // namespace dlrt::launcher
