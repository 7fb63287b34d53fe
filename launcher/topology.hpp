// SPDX-License-Identifier: Apache-2.0
/// What one host is made of, as a value: packages, NUMA nodes, shared caches, cores, hardware
/// threads, devices, of the cpus that a job may use. Found by the daemon, read by the head.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

enum class TopologyLevel : std::uint8_t { package, numa, l3, core, hwthread };

/// How much of a host has been looked at, in ascending cost.
enum class TopologyDetail : std::uint8_t {
    quick,    ///< Packages, NUMA nodes, cores and hardware threads by the kernel's files.
    full,     ///< By hwloc: caches, sizes and kinds of cores besides.
    devices,  ///< GPUs and network devices besides.
};

struct TopologyObject {
    std::uint32_t os_index = 0;
    std::vector<std::uint32_t> cpus;  ///< Hardware threads by the kernel's number, ascending.
    std::uint64_t size_bytes = 0;     ///< Memory of a NUMA node, capacity of a cache; else 0.
    std::uint32_t kind = 0;           ///< Of a core: 0 the host's slowest, more for faster ones.
    friend bool operator==(const TopologyObject&, const TopologyObject&) = default;
};

struct TopologyDevice {
    enum class Kind : std::uint8_t { gpu, network, other };
    Kind kind = Kind::other;
    std::string name;    ///< "mlx5_0", "cuda0", "eth0".
    std::string detail;  ///< Model and PCI address; may be empty.
    std::vector<std::uint32_t> near_cpus;
    friend bool operator==(const TopologyDevice&, const TopologyDevice&) = default;
};

/// Objects of a level stand in the order of hwloc's logical numbers; they are disjoint and hold
/// together all cpus, none of them is empty. A host without a level (no L3, say) has one object
/// there that holds all cpus; without cores each hardware thread is one.
struct HostTopology {
    TopologyDetail detail = TopologyDetail::quick;
    std::vector<TopologyObject> packages;
    std::vector<TopologyObject> numas;
    std::vector<TopologyObject> l3s;
    std::vector<TopologyObject> cores;
    std::vector<TopologyObject> hwthreads;
    std::vector<TopologyObject> l2s;      ///< Only of the full detail; may be absent.
    std::vector<TopologyDevice> devices;  ///< Only where they were asked for.
    std::string cpu_model;                ///< Only of the full detail; may be empty.
    friend bool operator==(const HostTopology&, const HostTopology&) = default;

    [[nodiscard]] std::span<const TopologyObject> objects(TopologyLevel level) const noexcept;
};

/// What a reader of the hardware found, made to keep the promises above: cpus that are not usable
/// are left out, objects that overlap one that stands nearer to the cpus too, and what a level
/// doesn't hold becomes an object of its own.
[[nodiscard]] HostTopology complete_topology(
    HostTopology found, std::span<const std::uint32_t> usable_cpus
);

/// 0 1 2 7 → "0-2,7". REQUIRES: ascending.
[[nodiscard]] std::string format_cpu_list(std::span<const std::uint32_t> cpus);

}  // namespace dlrt::launcher
