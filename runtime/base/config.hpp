// SPDX-License-Identifier: Apache-2.0
/// The settings: environment variables named DLRT_*, in one table, read once into a value.
///
/// Checking is strict: a wrong type, a value out of range, and a DLRT_ variable that nobody knows
/// are errors whose one line names the variable, what is valid and the nearest valid name.
/// Pure but for the environment that it is handed.
#pragma once

#include "runtime/base/log.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// How a message may travel; the names are those of DLRT_PROTO.
enum class Protocol : std::uint8_t { eager, rendezvous_read, rendezvous_stream };

/// One item of DLRT_PROTO: "[^]name[@[from]-[end]]", for sizes from <= size < end.
struct ProtocolRule {
    Protocol protocol = Protocol::eager;
    bool is_excluded = false;
    std::uint64_t size_bytes_min = 0;
    std::uint64_t size_bytes_end = std::numeric_limits<std::uint64_t>::max();
    friend bool operator==(const ProtocolRule&, const ProtocolRule&) = default;
};

/// What the rules make of a message: the first rule without ^ that covers its size, else
/// `preferred` unless a ^ rule covers it, else the first protocol that none excludes.
/// `is_eager_possible` says whether the size fits an eager message; an impossible eager rule is
/// passed over. rendezvous_stream, which always works, is the answer when everything is excluded.
[[nodiscard]] Protocol choose_protocol(
    std::span<const ProtocolRule> rules, std::uint64_t size_bytes, Protocol preferred,
    bool is_eager_possible
);

struct Settings {
    std::string algorithm_rules;               ///< DLRT_ALGO, not yet parsed; empty: none
    bool is_explaining = false;                ///< DLRT_EXPLAIN
    bool allow_cross_memory = true;            ///< DLRT_CMA
    bool is_checking = false;                  ///< DLRT_CHECK
    std::string collective_table_path;         ///< DLRT_COLLECTIVE_TABLE; empty: the built-in table
    std::string copy_table_path;               ///< DLRT_COPY_TABLE; empty: the built-in table
    bool is_deterministic = false;             ///< DLRT_DETERMINISTIC
    std::optional<std::uint32_t> eager_bytes;  ///< DLRT_EAGER_BYTES; unset: the transport's
    std::uint32_t join_timeout_s = 300;        ///< DLRT_JOIN_TIMEOUT_S
    LogLevel log_level = LogLevel::warning;    ///< DLRT_LOG
    std::vector<ProtocolRule> protocol_rules;  ///< DLRT_PROTO
    std::optional<std::uint32_t> spin_us;      ///< DLRT_SPIN_US; unset: by tenancy
};

/// A row of the table, for documentation and for messages.
struct SettingInfo {
    std::string_view name;
    std::string_view type;
    std::string_view standard;  ///< Its value when unset.
    std::string_view valid;
    std::string_view help;
};
/// By name.
[[nodiscard]] std::vector<SettingInfo> setting_table();

/// Reads a null-terminated list of "NAME=value", such as environ. Variables that don't begin with
/// DLRT_ are left alone, and so are `other_names`, which mean something to others.
/// Errors: Errc::argument.
[[nodiscard]] Result<Settings> read_settings(
    const char* const* environment, std::span<const std::string_view> other_names
);

}  // namespace dlrt
