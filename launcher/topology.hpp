// SPDX-License-Identifier: Apache-2.0
/// What one host is made of, as a value: packages, NUMA nodes, shared caches, cores, hardware
/// threads, devices, and which cpus a job may use of it. Found by the daemon, read by the head.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

enum class TopologyLevel : std::uint8_t { package, numa, l3, core, hwthread };

struct TopologyObject {
    std::uint32_t os_index = 0;
    std::vector<std::uint32_t> cpus;  ///< Hardware threads by the kernel's number, ascending.
    std::uint64_t size_bytes = 0;     ///< Memory of a NUMA node, capacity of a cache; else 0.
    friend bool operator==(const TopologyObject&, const TopologyObject&) = default;
};

struct TopologyDevice {
    enum class Kind : std::uint8_t { gpu, network, other };
    Kind kind = Kind::other;
    std::string name;    ///< "mlx5_0", "cuda0", "eth0".
    std::string detail;  ///< Model or PCI address; may be empty.
    std::vector<std::uint32_t> near_cpus;
    friend bool operator==(const TopologyDevice&, const TopologyDevice&) = default;
};

/// Objects of a level stand in the order of hwloc's logical numbers. A host without a level
/// (no L3, say) has one object there that holds all cpus.
struct HostTopology {
    std::vector<TopologyObject> packages;
    std::vector<TopologyObject> numas;
    std::vector<TopologyObject> l3s;
    std::vector<TopologyObject> cores;
    std::vector<TopologyObject> hwthreads;
    std::vector<TopologyDevice> devices;  ///< Only where they were asked for.
    friend bool operator==(const HostTopology&, const HostTopology&) = default;

    [[nodiscard]] std::span<const TopologyObject> objects(TopologyLevel level) const noexcept;
};

}  // namespace dlrt::launcher
