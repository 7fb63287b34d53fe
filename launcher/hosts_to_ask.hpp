// SPDX-License-Identifier: Apache-2.0
/// Which hosts of an allocation get a daemon before ranks are placed, and how the others are
/// reached.
#pragma once

#include "launcher/allocation.hpp"
#include "launcher/caller_context.hpp"
#include "launcher/options.hpp"
#include "launcher/process_defaults.hpp"
#include "launcher/remote_daemon.hpp"
#include "runtime/base/result.hpp"

#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// By host of the allocation. Those are left out that can get no rank: where slots are filled one
/// host after the other, and the first ones have enough. A dry run looks at this host only.
[[nodiscard]] std::vector<bool> hosts_to_ask(const Options& options, const Allocation& allocation);

[[nodiscard]] bool is_own_host_asked(const Options& options, const Allocation& allocation);

/// `defaults` must outlive it. Errors: Errc::argument and Errc::system with the line to print.
[[nodiscard]] Result<RemoteWay> remote_way(
    const Options& options, const CallerContext& context, std::string_view version,
    const ProcessDefaults& defaults
);

}  // namespace dlrt::launcher
