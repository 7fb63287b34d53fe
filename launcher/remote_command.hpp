// SPDX-License-Identifier: Apache-2.0
/// How a daemon is started on another host, and what it means when that fails. Pure.
///
/// The command has no shell syntax and nothing of the job in it: all that a daemon needs travels on
/// its standard input, where neither other users nor a length limit are.
#pragma once

#include "launcher/host_list.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// What a user gives with --launcher-cmd: words with {host}, and {user} and {port} if it likes; the
/// daemon's own words come behind it. Empty: ssh.
struct LauncherTemplate {
    std::vector<std::string> words;
    bool is_simulation = false;  ///< Nothing lies between: the daemon runs here, by another name.
};
/// Errors: Errc::argument with what is wrong.
[[nodiscard]] Result<LauncherTemplate> parse_launcher_template(std::string_view text);

/// What is started there: a daemon that talks with the head only, or a member of a tree of them.
enum class DaemonRole : std::uint8_t { alone, in_tree };

/// `daemon`: its absolute path on the head's host, which counts there too unless the host has a
/// prefix of its own.
[[nodiscard]] std::vector<std::string> remote_command(
    const LauncherTemplate& launcher, const HostMention& host, std::string_view daemon,
    DaemonRole role, std::uint32_t connect_timeout_s
);

/// How a start went wrong.
struct RemoteFailure {
    int exit_status = 255;    ///< Of the command.
    std::string words;        ///< What it wrote to its standard error.
    std::string daemon_path;  ///< What was to run there.
};
/// Whether the same again may succeed: the host was busy with other connections.
[[nodiscard]] bool is_worth_another_try(const RemoteFailure& failure);
/// Whether the host may only not be there yet: its name isn't known, or nothing listens there.
[[nodiscard]] bool is_host_absent(const RemoteFailure& failure);
/// One line for the user: the host, the cause, and what to do.
[[nodiscard]] std::string explain_remote_failure(
    const LauncherTemplate& launcher, const HostMention& host, const RemoteFailure& failure
);

}  // namespace dlrt::launcher
