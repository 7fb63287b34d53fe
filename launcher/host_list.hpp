// SPDX-License-Identifier: Apache-2.0
/// Hosts as users write them, in --host and in hostfiles:
///
///   [user@]host[:slots]     host: a name, an IPv4 address, [IPv6], IPv6 alone, name[01-16,20]
///
/// Pure. Nothing is looked up; whether a host exists is not known here.
#pragma once

#include "runtime/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

inline constexpr std::size_t host_mention_count_max = 65'536;
inline constexpr std::uint32_t host_slots_max = 65'535;

/// One naming of a host; the same one may be named again.
struct HostMention {
    std::string name;  ///< As written; an IPv6 address without its brackets.
    std::optional<std::uint32_t> slots;
    std::optional<std::uint32_t> max_slots;
    std::string user;        ///< Empty: not given.
    std::uint32_t port = 0;  ///< 0: not given.
    std::string prefix;      ///< Where dlrt is installed on it, absolute; empty: not given.
    friend bool operator==(const HostMention&, const HostMention&) = default;
};

/// What is wrong with a text, and where in it.
struct TextProblem {
    std::size_t offset = 0;
    std::string text;
};

/// One host of the grammar above, or as many as its ranges make, added to `mentions`.
[[nodiscard]] std::optional<TextProblem> add_hosts(
    std::string_view word, std::vector<HostMention>& mentions
);

/// "a:4,b,n[01-16]". Errors: Errc::argument with the line to print.
[[nodiscard]] Result<std::vector<HostMention>> parse_host_list(std::string_view text);

/// A number from 1 to `max` and nothing else.
[[nodiscard]] std::optional<std::uint32_t> parse_count(std::string_view text, std::uint32_t max);

/// Whether it may stand before "@": letters, digits and . _ + @ -, not beginning with "-", which
/// would be an option to the programs that it is handed to.
[[nodiscard]] bool is_user_name(std::string_view text);

/// Without a byte that could do anything to a terminal.
[[nodiscard]] std::string printable(std::string_view text);
/// The same in quotes, cut where it is long.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace dlrt::launcher
