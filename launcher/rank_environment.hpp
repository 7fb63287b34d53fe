// SPDX-License-Identifier: Apache-2.0
/// What ranks find in their environment. Pure.
#pragma once

#include "launcher/options.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// Set for each rank by the daemon; no option may set them.
[[nodiscard]] bool is_reserved_variable(std::string_view name);

/// The caller's variables that a block's ranks get, after the edits, in order.
///
/// The usual base leaves out what belongs to the caller's session and host (SSH_*, DISPLAY,
/// HOSTNAME, PWD, TMPDIR, XDG_* but XDG_*_HOME, DBUS_*), to other launchers, to a surrounding job
/// (ours, and torch's when the caller is a rank itself) and to dlrun alone (DLRT_HOSTFILE).
[[nodiscard]] std::vector<std::string> program_environment(
    std::span<const std::string> caller, EnvironmentBase base,
    std::span<const EnvironmentEdit> edits
);

/// PATH begins with folder/bin, LD_LIBRARY_PATH with folder/lib.
void add_prefix(std::vector<std::string>& environment, std::string_view folder);

void set_variable(
    std::vector<std::string>& environment, std::string_view name, std::string_view value
);

/// What names a rank to itself.
struct RankIdentity {
    std::string_view job_id;
    std::string_view token;
    std::string_view daemon_socket;
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::uint32_t local_rank = 0;
    std::uint32_t local_size = 1;
    std::uint32_t host_index = 0;
    std::uint32_t host_count = 1;
    std::array<int, 4> descriptors{};  ///< Control, map, segment, doorbell.
    bool is_oversubscribed = false;
};

/// NAME=value of our own variables and of those that torch programs read.
[[nodiscard]] std::vector<std::string> identity_environment(const RankIdentity& identity);

/// Value of a variable; empty if it isn't there.
[[nodiscard]] std::string_view find_variable(
    std::span<const std::string> environment, std::string_view name
);

/// Whether a variable of that name, or one that the glob matches, is there.
[[nodiscard]] bool has_match(std::span<const std::string> environment, const std::string& glob);

}  // namespace dlrt::launcher
