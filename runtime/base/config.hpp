// SPDX-License-Identifier: Apache-2.0
/// The settings: environment variables named DLRT_*, in one table, read once into a value.
///
/// Checking is strict: a wrong type, a value out of range, and a DLRT_ variable that nobody knows
/// are errors whose one line names the variable, what is valid and the nearest valid name.
/// Pure but for the environment that it is handed.
#pragma once

#include "runtime/base/log.hpp"
#include "runtime/base/protocol_rule.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

enum class SocketFamily : std::uint8_t { any, ipv4, ipv6 };

struct Settings {
    std::string algorithm_rules;               ///< DLRT_ALGO, not yet parsed; empty: none
    bool is_explaining = false;                ///< DLRT_EXPLAIN
    std::string groups;                        ///< DLRT_GROUPS, not yet parsed; empty: by host
    bool allow_cross_memory = true;            ///< DLRT_CMA
    bool is_checking = false;                  ///< DLRT_CHECK
    std::string collective_table_path;         ///< DLRT_COLLECTIVE_TABLE; empty: the built-in table
    std::string copy_table_path;               ///< DLRT_COPY_TABLE; empty: the built-in table
    bool is_deterministic = false;             ///< DLRT_DETERMINISTIC
    std::optional<std::uint32_t> eager_bytes;  ///< DLRT_EAGER_BYTES; unset: the transport's
    std::optional<std::uint64_t> heap_bytes;   ///< DLRT_HEAP_BYTES; unset: the host's memory
    std::uint32_t join_timeout_s = 300;        ///< DLRT_JOIN_TIMEOUT_S
    LogLevel log_level = LogLevel::warning;    ///< DLRT_LOG
    bool has_progress_thread = false;          ///< DLRT_PROGRESS_THREAD
    std::vector<ProtocolRule> protocol_rules;  ///< DLRT_PROTO
    std::optional<std::uint32_t> spin_us;      ///< DLRT_SPIN_US; unset: by tenancy
    SocketFamily tcp_family = SocketFamily::any;  ///< DLRT_TCP_FAMILY
    std::string tcp_interfaces;        ///< DLRT_TCP_INTERFACES, names not yet looked up; empty: all
    std::uint16_t tcp_port_first = 0;  ///< DLRT_TCP_PORTS; 0: any free one
    std::uint16_t tcp_port_last = 0;
    std::uint32_t tcp_sockets = 1;  ///< DLRT_TCP_SOCKETS
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
