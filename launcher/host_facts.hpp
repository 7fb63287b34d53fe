// SPDX-License-Identifier: Apache-2.0
/// What a daemon tells the head about its host.
#pragma once

#include "launcher/frame.hpp"

#include <string>

namespace dlrt::launcher {

/// As the kernel knows it; nothing is looked up.
[[nodiscard]] std::string local_host_name();

[[nodiscard]] HostFacts find_host_facts();

}  // namespace dlrt::launcher
