// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_hwloc.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <hwloc.h>

namespace dlrt::launcher {
namespace {

struct DestroyTopology {
    void operator()(hwloc_topology_t topology) const { ::hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

std::vector<std::uint32_t> cpus_of(hwloc_const_bitmap_t set) {
    std::vector<std::uint32_t> cpus;
    if (set == nullptr) return cpus;
    for (int cpu = ::hwloc_bitmap_first(set); cpu >= 0; cpu = ::hwloc_bitmap_next(set, cpu)) {
        cpus.push_back(static_cast<std::uint32_t>(cpu));
    }
    return cpus;
}

std::uint64_t size_of(const hwloc_obj& object) {
    if (object.type == HWLOC_OBJ_NUMANODE) return object.attr->numanode.local_memory;
    if (::hwloc_obj_type_is_cache(object.type) != 0) return object.attr->cache.size;
    return 0;
}

std::vector<TopologyObject> objects_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
    std::vector<TopologyObject> objects;
    hwloc_obj_t object = nullptr;
    while ((object = ::hwloc_get_next_obj_by_type(topology, type, object)) != nullptr) {
        objects.push_back({object->os_index, cpus_of(object->cpuset), size_of(*object)});
    }
    return objects;
}

std::string info_of(hwloc_obj_t object, const char* name) {
    const char* value = ::hwloc_obj_get_info_by_name(object, name);
    return value == nullptr ? "" : value;
}

/// hwloc ranks kinds by their speed, unknown ones come in no order.
void mark_kinds(hwloc_topology_t topology, std::vector<TopologyObject>& cores) {
    if (::hwloc_cpukinds_get_nr(topology, 0) < 2) return;
    hwloc_obj_t object = nullptr;
    for (TopologyObject& core : cores) {
        object = ::hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, object);
        const int kind = ::hwloc_cpukinds_get_by_cpuset(topology, object->cpuset, 0);
        core.kind = static_cast<std::uint32_t>(std::max(kind, 0));
    }
}

/// One adapter shows up as several devices of the system; the name by which programs choose it
/// comes first. Negative: nothing that a job cares for.
int preference(const hwloc_obj& device) {
    const std::string_view name = device.name == nullptr ? "" : device.name;
    switch (device.attr->osdev.type) {
        case HWLOC_OBJ_OSDEV_COPROC:
            return name.starts_with("opencl") ? 2 : 5;
        case HWLOC_OBJ_OSDEV_GPU:
            if (name.starts_with("renderD")) return 0;
            return name.starts_with("card") ? 1 : 4;
        case HWLOC_OBJ_OSDEV_OPENFABRICS:
            return 3;
        case HWLOC_OBJ_OSDEV_NETWORK:
            return 1;
        case HWLOC_OBJ_OSDEV_BLOCK:
        case HWLOC_OBJ_OSDEV_DMA:
            break;
    }
    return -1;
}

TopologyDevice::Kind kind_of(const hwloc_obj& device) {
    switch (device.attr->osdev.type) {
        case HWLOC_OBJ_OSDEV_COPROC:
        case HWLOC_OBJ_OSDEV_GPU:
            return TopologyDevice::Kind::gpu;
        case HWLOC_OBJ_OSDEV_OPENFABRICS:
        case HWLOC_OBJ_OSDEV_NETWORK:
            return TopologyDevice::Kind::network;
        case HWLOC_OBJ_OSDEV_BLOCK:
        case HWLOC_OBJ_OSDEV_DMA:
            break;
    }
    return TopologyDevice::Kind::other;
}

std::string detail_of(hwloc_obj_t device, hwloc_obj_t adapter) {
    std::string detail = info_of(device, "GPUModel");
    if (adapter == nullptr) return detail;
    if (detail.empty()) detail = info_of(adapter, "PCIDevice");
    if (!detail.empty()) detail += ", ";
    const auto& pci = adapter->attr->pcidev;
    return detail +
           fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

hwloc_obj_t adapter_of(hwloc_obj_t device) {
    for (hwloc_obj_t up = device->parent; up != nullptr; up = up->parent) {
        if (up->type == HWLOC_OBJ_PCI_DEVICE) return up;
    }
    return nullptr;
}

std::vector<TopologyDevice> devices_of(hwloc_topology_t topology) {
    struct Found {
        hwloc_obj_t device;
        hwloc_obj_t adapter;
    };
    std::vector<Found> found;
    hwloc_obj_t device = nullptr;
    while ((device = ::hwloc_get_next_osdev(topology, device)) != nullptr) {
        if (preference(*device) < 0) continue;
        const hwloc_obj_t adapter = adapter_of(device);
        const auto same = std::ranges::find_if(found, [&](const Found& other) {
            return adapter != nullptr && other.adapter == adapter &&
                   kind_of(*other.device) == kind_of(*device);
        });
        if (same == found.end())
            found.push_back({device, adapter});
        else if (preference(*device) > preference(*same->device))
            same->device = device;
    }
    std::vector<TopologyDevice> devices;
    for (const Found& one : found) {
        const hwloc_obj_t place = ::hwloc_get_non_io_ancestor_obj(topology, one.device);
        devices.push_back(
            {kind_of(*one.device), one.device->name == nullptr ? "?" : one.device->name,
             detail_of(one.device, one.adapter),
             cpus_of(place == nullptr ? nullptr : place->cpuset)}
        );
    }
    return devices;
}

Result<Handle> load(const TopologyQuestion& question) {
    hwloc_topology_t raw = nullptr;
    if (::hwloc_topology_init(&raw) != 0) return fail_errno(errno, "hwloc cannot start");
    Handle topology(raw);
    ::hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (const hwloc_obj_type_t type :
         {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_CORE}) {
        ::hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    }
    // Without groups a NUMA node that is neither a package nor a cache loses its own cpus.
    ::hwloc_topology_set_type_filter(raw, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    if (question.detail == TopologyDetail::devices) {
        ::hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    }
    if (!question.xml_file.empty() &&
        ::hwloc_topology_set_xml(raw, question.xml_file.c_str()) != 0) {
        return fail_errno(errno, "'{}' is no topology as lstopo writes it", question.xml_file);
    }
    if (!question.synthetic.empty() &&
        ::hwloc_topology_set_synthetic(raw, question.synthetic.c_str()) != 0) {
        return fail(
            Errc::argument, "hwloc doesn't understand the description '{}'", question.synthetic
        );
    }
    if (::hwloc_topology_load(raw) != 0) {
        return fail_errno(errno, "hwloc cannot find out what this host is made of");
    }
    return topology;
}

}  // namespace

Result<HostTopology> read_hwloc_topology(const TopologyQuestion& question) {
    const Result<Handle> handle = load(question);
    if (!handle) return handle.error();
    hwloc_topology_t topology = handle->get();
    HostTopology found;
    found.detail = question.detail;
    found.packages = objects_of(topology, HWLOC_OBJ_PACKAGE);
    found.numas = objects_of(topology, HWLOC_OBJ_NUMANODE);
    found.l3s = objects_of(topology, HWLOC_OBJ_L3CACHE);
    found.l2s = objects_of(topology, HWLOC_OBJ_L2CACHE);
    found.cores = objects_of(topology, HWLOC_OBJ_CORE);
    mark_kinds(topology, found.cores);
    found.hwthreads = objects_of(topology, HWLOC_OBJ_PU);
    if (question.detail == TopologyDetail::devices) found.devices = devices_of(topology);
    if (const hwloc_obj_t package = ::hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0)) {
        found.cpu_model = info_of(package, "CPUModel");
    }
    const std::vector<std::uint32_t> all = cpus_of(::hwloc_topology_get_topology_cpuset(topology));
    return complete_topology(std::move(found), question.usable_cpus.value_or(all));
}

}  // namespace dlrt::launcher
