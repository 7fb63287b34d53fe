// SPDX-License-Identifier: Apache-2.0
/// The command line of dlrun as a value.
///
///   dlrun [option]... program [argument]... [: [option]... program [argument]...]...
///
/// Long names take one dash or two; a value follows as the next word or after "=". The first word
/// that is no option, or "--", ends the options of a block. Whatever is unknown, of the wrong kind,
/// out of range or contradictory is refused with one line that names it and says what is valid.
#pragma once

#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// One change of the environment that a block's ranks get.
struct EnvironmentEdit {
    enum class Kind : std::uint8_t {
        assign,   ///< NAME=value.
        forward,  ///< The caller's value, even of a variable that isn't passed on otherwise.
        unset,
    };
    Kind kind = Kind::assign;
    std::string name;
    std::string value;
    friend bool operator==(const EnvironmentEdit&, const EnvironmentEdit&) = default;
};

/// What stands between two `:` of the command line.
struct Block {
    std::optional<std::uint32_t> rank_count;
    std::vector<EnvironmentEdit> environment_edits;
    std::string working_directory;  ///< As given; empty: the caller's.
    std::vector<std::string> arguments;
};

struct StdinChoice {
    enum class Kind : std::uint8_t { rank, none, file };
    Kind kind = Kind::rank;
    std::uint32_t rank = 0;  ///< Who reads dlrun's input, or the file.
    std::string file;
};

struct Options {
    enum class Action : std::uint8_t { run, show_status, show_help, show_version };
    Action action = Action::run;
    std::vector<Block> blocks;
    std::optional<std::uint64_t> timeout_ms;
    std::uint64_t grace_ms = 5000;
    StdinChoice stdin_choice;
    bool is_tagged = false;
    bool is_verbose = false;
    std::string status_job;  ///< Empty: the user's only job.

    /// Of all blocks; nothing when the number of cpus decides.
    [[nodiscard]] std::optional<std::uint32_t> rank_count() const;
};

/// `words` are those after the program's name. Errors: Errc::argument with the whole line to print.
[[nodiscard]] Result<Options> parse_options(std::span<const std::string> words);

[[nodiscard]] std::string help_text();

}  // namespace dlrt::launcher
