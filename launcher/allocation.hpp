// SPDX-License-Identifier: Apache-2.0
/// The hosts of a job with their slots, from what the caller named.
///
/// A host named once without a count has as many slots as usable cpus, which only its daemon knows.
/// Named several times it has the sum of its counts, each mention without one counting 1.
#pragma once

#include "launcher/host_list.hpp"
#include "launcher/options.hpp"
#include "launcher/own_host.hpp"
#include "launcher/resource_manager.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct AllocatedHost {
    std::string name;                    ///< As named first; this host: its own name.
    std::optional<std::uint32_t> slots;  ///< Nothing: one for each usable cpu.
    /// Of mentions without a limit their slots count. Nothing: no limit.
    std::optional<std::uint32_t> max_slots;
    std::string user;        ///< Empty: the caller's.
    std::uint32_t port = 0;  ///< 0: the usual one.
    std::string prefix;      ///< Empty: where dlrun is installed.
    bool is_own = false;     ///< The host that dlrun runs on.
    friend bool operator==(const AllocatedHost&, const AllocatedHost&) = default;
};

struct Allocation {
    std::vector<AllocatedHost> hosts;  ///< In the order in which they are named first.
    /// The host of every mention, in order. Empty: nobody named any, the job runs here.
    std::vector<std::uint32_t> mentions;
    std::vector<std::string> warnings;
    ResourceManager manager = ResourceManager::none;  ///< Who has named them.
    friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// Where nobody named a host: this one, with as many slots as usable cpus.
[[nodiscard]] Allocation allocation_of(std::string own_name);

/// REQUIRES: there are mentions. Errors: Errc::argument for mentions of a host that contradict each
/// other.
[[nodiscard]] Result<Allocation> allocate(
    std::span<const HostMention> mentions, const OwnHost& own_host
);

/// Reads the lists and files of the command line, or else the hostfile that the environment's
/// DLRT_HOSTFILE names, or else what a resource manager or another launcher's set-up says. Errors:
/// Errc::argument or Errc::system with the line to print.
[[nodiscard]] Result<Allocation> find_allocation(
    const Options& options, std::span<const std::string> environment
);

}  // namespace dlrt::launcher
