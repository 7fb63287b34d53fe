// SPDX-License-Identifier: Apache-2.0
/// The hosts that a resource manager has given to the caller, as its environment tells: Slurm, PBS,
/// LSF, Grid Engine; and what the Kubernetes MPI operator sets up for other launchers. Reads the
/// files that the environment names, else pure.
#pragma once

#include "launcher/host_list.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

enum class ResourceManager : std::uint8_t { none, slurm, other };

struct ManagedHosts {
    ResourceManager manager = ResourceManager::none;
    std::vector<HostMention> mentions;  ///< Empty: there is no such environment.
};
/// Errors: Errc::argument and Errc::system with the line to print, for an environment that
/// contradicts itself.
[[nodiscard]] Result<ManagedHosts> find_managed_hosts(std::span<const std::string> environment);

/// A hostfile that another launcher would read; empty: none.
[[nodiscard]] std::string_view foreign_hostfile(std::span<const std::string> environment);
/// The command by which another launcher would reach hosts, with a blank and {host} behind it;
/// empty: none.
[[nodiscard]] std::string foreign_agent(std::span<const std::string> environment);

/// "2(x3),1" is 2, 2, 2, 1. Errors: Errc::argument.
[[nodiscard]] Result<std::vector<std::uint32_t>> parse_slurm_counts(std::string_view text);

}  // namespace dlrt::launcher
