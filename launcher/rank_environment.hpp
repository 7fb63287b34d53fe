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

/// The caller's variables that ranks get: all but the identity of a surrounding job (ours, of other
/// launchers, and of torch when the caller is a rank itself) and SSH_*; then the edits, in order.
[[nodiscard]] std::vector<std::string> program_environment(
    std::span<const std::string> caller, std::span<const EnvironmentEdit> edits
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

}  // namespace dlrt::launcher
