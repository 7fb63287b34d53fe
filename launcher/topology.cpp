// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology.hpp"

namespace dlrt::launcher {

std::span<const TopologyObject> HostTopology::objects(TopologyLevel level) const noexcept {
    switch (level) {
        case TopologyLevel::package:
            return packages;
        case TopologyLevel::numa:
            return numas;
        case TopologyLevel::l3:
            return l3s;
        case TopologyLevel::core:
            return cores;
        case TopologyLevel::hwthread:
            break;
    }
    return hwthreads;
}

}  // namespace dlrt::launcher
