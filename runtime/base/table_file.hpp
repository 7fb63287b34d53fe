// SPDX-License-Identifier: Apache-2.0
/// The file that holds a table of measurements: read with a limit, written whole or not at all.
#pragma once

#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <string>
#include <string_view>

namespace dlrt {

/// Opens a file that may be anything; not open, with errno set, where it can't.
[[nodiscard]] Fd open_table(const std::string& path);
/// All that is in it. Errors: Errc::argument, not naming the file: it can't be read, or is a
/// folder, a device or too large.
[[nodiscard]] Result<std::string> read_table_text(const Fd& file);
/// Whether write_table_text() can be expected to work. Errors: as there.
[[nodiscard]] Status check_table_target(const std::string& path);
/// Writes the file whole or not at all, through a symbolic link where one stands. Errors:
/// Errc::system, Errc::argument (what is there is no plain file), naming the file.
[[nodiscard]] Status write_table_text(const std::string& path, std::string_view text);

}  // namespace dlrt
