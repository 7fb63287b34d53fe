// SPDX-License-Identifier: Apache-2.0
/// What a daemon tells the head about its host.
#pragma once

#include "launcher/frame.hpp"
#include "runtime/base/result.hpp"

#include <string>

namespace dlrt::launcher {

/// As the kernel knows it; nothing is looked up.
[[nodiscard]] std::string local_host_name();

/// `held_cpus` are those of the user's other jobs. Errors: Errc::system where the topology can't be
/// read in that detail.
[[nodiscard]] Result<HostFacts> find_host_facts(
    TopologyDetail detail, const std::vector<std::uint32_t>& held_cpus
);

/// For a daemon that ssh has started: adds the addresses of its environment's SSH_CONNECTION where
/// it speaks of this host.
void add_ssh_addresses(HostFacts& facts);

/// For a daemon that plays a host on a machine that it shares with others: nobody is bound there.
void play_host(HostFacts& facts, const std::string& name);

}  // namespace dlrt::launcher
