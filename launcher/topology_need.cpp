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

std::uint32_t cpus_to_borrow(
    const Options& options, const HostFacts& facts, std::optional<std::uint32_t> rank_count
) {
    if (facts.busy_cpus.empty() || options.binding.kind == BindingChoice::Kind::none) return 0;
    const std::uint64_t wanted = std::uint64_t{rank_count.value_or(facts.usable_cpu_count)} *
                                 options.mapping.cpus_per_rank.value_or(1);
    const std::uint64_t free = facts.cpus.size() - facts.busy_cpus.size();
    if (free >= wanted || wanted > facts.cpus.size()) return 0;
    return static_cast<std::uint32_t>(wanted);
}

bool lends_cpus(const Options& options) {
    return options.binding.kind == BindingChoice::Kind::share && !options.binding.is_explicit &&
           !options.mapping.cpus_per_rank;
}

}  // namespace dlrt::launcher
