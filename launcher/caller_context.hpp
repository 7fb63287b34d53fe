// SPDX-License-Identifier: Apache-2.0
/// Where and how dlrun was called: what ranks inherit of it, and where their input comes from.
#pragma once

#include "launcher/allocation.hpp"
#include "launcher/frame.hpp"
#include "launcher/heartbeat.hpp"
#include "launcher/options.hpp"
#include "runtime/base/result.hpp"

#include <string>
#include <vector>

namespace dlrt::launcher {

struct CallerContext {
    std::vector<std::string> environment;
    std::string working_directory;  ///< Empty: it has been deleted.
    StdinKind stdin_kind = StdinKind::none;
    std::string job_id;
    std::string token;
    std::uint64_t heartbeat_ms = heartbeat_default_ms;
    std::string start_gate;  ///< For tests: see LaunchPlan.
    Allocation allocation;   ///< The hosts that the caller named; none: this one.
    bool is_stdin_terminal = false;
};

/// Looks at the calling process, makes id and token of a new job, and puts what the ranks shall
/// read on descriptor 0. Errors: Errc::argument and Errc::system with the line to print.
[[nodiscard]] Result<CallerContext> find_caller_context(const Options& options);

}  // namespace dlrt::launcher
