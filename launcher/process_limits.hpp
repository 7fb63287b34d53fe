// SPDX-License-Identifier: Apache-2.0
/// Whether this host lets the caller start so many more processes: limits that would bite in the
/// middle of a start are said before it.
#pragma once

#include "runtime/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace dlrt::launcher {

struct ProcessRoom {
    std::uint64_t allowed = 0;
    std::uint64_t in_use = 0;
    std::string limit;  ///< What sets it: "pids.max of cgroup /job".
    [[nodiscard]] std::uint64_t left() const { return allowed > in_use ? allowed - in_use : 0; }
    friend bool operator==(const ProcessRoom&, const ProcessRoom&) = default;
};

/// The tightest cgroup of the calling process; nothing without such a limit. `root` stands in for
/// "/" (tests make one up).
[[nodiscard]] std::optional<ProcessRoom> cgroup_room(const std::string& root);

/// What RLIMIT_NPROC leaves to the caller; nothing when it doesn't hold (for root) or there is
/// certainly room for `needed` more.
[[nodiscard]] std::optional<ProcessRoom> user_room(std::uint64_t needed);

/// Errors: Errc::limit with what is needed, allowed and in use.
Status check_process_limits(std::uint64_t needed);

}  // namespace dlrt::launcher
