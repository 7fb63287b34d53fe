// SPDX-License-Identifier: Apache-2.0
/// Topologies of hosts on their way up a tree: identical ones travel once over each link. Pure.
/// REQUIRES: load_sodium() has succeeded.
#pragma once

#include "launcher/frame.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace dlrt::launcher {

/// In a relay: leaves out what has gone up before.
class TopologyFilter {
  public:
    void pass(HostFacts& facts);

  private:
    std::set<std::vector<std::byte>> sent_;
};

/// In the head: puts back what was left out.
class TopologyStore {
  public:
    void pass(HostFacts& facts);

  private:
    std::map<std::vector<std::byte>, HostTopology> known_;
};

}  // namespace dlrt::launcher
