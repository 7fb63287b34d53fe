// SPDX-License-Identifier: Apache-2.0
#include "launcher/memory_binding.hpp"

#include "launcher/topology_sysfs.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <linux/mempolicy.h>

namespace dlrt::launcher {
namespace {

constexpr std::size_t word_bits = sizeof(unsigned long) * 8;

void add_node(std::vector<unsigned long>& nodes, std::uint32_t number) {
    if (number / word_bits >= nodes.size()) nodes.resize(number / word_bits + 1);
    nodes[number / word_bits] |= 1ul << (number % word_bits);
}

}  // namespace

Result<MemoryPolicy> memory_policy_of(
    MemoryBinding binding, std::span<const std::uint32_t> cpus, const std::string& root
) {
    MemoryPolicy policy;
    if (binding == MemoryBinding::first_touch) return policy;
    policy.mode = binding == MemoryBinding::local ? MPOL_BIND : MPOL_INTERLEAVE;
    const HostTopology topology = read_quick_topology(root, cpus);
    for (const TopologyObject& numa : topology.numas) {
        if (has_memory(root, numa.os_index)) add_node(policy.nodes, numa.os_index);
    }
    if (policy.is_set()) return policy;
    return fail(
        Errc::argument,
        "--bind-memory: the NUMA nodes of cpus {} have no memory; valid there is first-touch",
        format_cpu_list(cpus)
    );
}

}  // namespace dlrt::launcher
