// SPDX-License-Identifier: Apache-2.0
/// Readers of the values that options take. Pure; what is wrong is said in one line that names the
/// option and what is valid.
#pragma once

#include "launcher/option_table.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace dlrt::launcher {

inline constexpr double ms_per_s = 1000;

/// A decimal number without sign or blanks.
[[nodiscard]] std::optional<std::uint64_t> parse_whole_number(std::string_view text);

/// Seconds with an optional fraction, in ms.
[[nodiscard]] std::optional<std::uint64_t> parse_seconds_as_ms(std::string_view text);

/// "TERM", "SIGTERM" or "15".
[[nodiscard]] std::optional<int> parse_signal(std::string_view text);

/// "core", "l3", "numa", "package", "hwthread", and what others call them.
[[nodiscard]] std::optional<TopologyLevel> parse_level(std::string_view text);

/// Checks the value of a use against its rule's kind and sets OptionUse::number.
Status read_value(OptionUse& use);

/// "--option: 'value' is not valid; valid is …"
Status refuse_value(const OptionUse& use);

/// The same, with a reason.
Status refuse_value(const OptionUse& use, std::string_view reason);

/// Signs of tag formats and file patterns, as OutputChoice describes them. Returns the first part
/// that isn't one, or nothing.
[[nodiscard]] std::optional<std::string_view> find_wrong_sign(std::string_view format);

}  // namespace dlrt::launcher
