// SPDX-License-Identifier: Apache-2.0
/// What tells processes that no daemon has introduced whether they are on one host, and what they
/// need to know of it. Any thread.
#pragma once

#include <string>

namespace dlrt {

struct HostIdentity {
    /// Equal exactly for processes that can reach each other's abstract sockets as the same user:
    /// boot id, network and user namespace. No blanks, no semicolons.
    std::string key;
    std::string name;  ///< Host name, for people.
};
[[nodiscard]] HostIdentity find_host_identity();

}  // namespace dlrt
