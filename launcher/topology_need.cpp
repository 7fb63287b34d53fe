// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_need.hpp"

namespace dlrt::launcher {

TopologyDetail detail_needed(const Options& options) {
    if (options.display.topology) return TopologyDetail::devices;
    const bool maps_by_objects = options.mapping.kind == MappingChoice::Kind::object ||
                                 options.mapping.level;
    const bool binds_to_objects = options.binding.kind == BindingChoice::Kind::object;
    if (maps_by_objects || binds_to_objects || options.display.binding) return TopologyDetail::full;
    return TopologyDetail::quick;
}

}  // namespace dlrt::launcher
