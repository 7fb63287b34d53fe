// SPDX-License-Identifier: Apache-2.0
/// The file of --app: in each line what stands between two ':' of a command line. Words are split
/// as word_splitter.hpp says; # begins a comment, empty lines don't count. A byte-order mark and
/// CRLF are accepted.
#pragma once

#include "launcher/word_splitter.hpp"
#include "runtime/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

struct AppLine {
    std::size_t number = 0;  ///< From 1.
    std::vector<SplitWord> words;
};

/// Reads the file. Errors: Errc::system; Errc::argument, all with the line to print.
[[nodiscard]] Result<std::string> read_app_file(const std::string& path);

/// `path` is for messages: "path:line:column: …", both from 1, columns in bytes.
[[nodiscard]] Result<std::vector<AppLine>> parse_app_text(
    std::string_view path, std::string_view text
);

}  // namespace dlrt::launcher
