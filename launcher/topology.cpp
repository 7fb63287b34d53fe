// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Objects = std::vector<TopologyObject>;

/// Constant time for each cpu: large hosts are looked at before every job.
class CpuSet {
  public:
    CpuSet() = default;
    explicit CpuSet(std::span<const std::uint32_t> cpus) { add(cpus); }
    void add(std::span<const std::uint32_t> cpus) {
        for (const std::uint32_t cpu : cpus) {
            if (cpu >= has_.size()) has_.resize(cpu + 1);
            has_[cpu] = true;
        }
    }
    [[nodiscard]] bool has(std::uint32_t cpu) const { return cpu < has_.size() && has_[cpu]; }
    [[nodiscard]] bool has_any_of(std::span<const std::uint32_t> cpus) const {
        return std::ranges::any_of(cpus, [this](std::uint32_t cpu) { return has(cpu); });
    }

  private:
    std::vector<bool> has_;
};

void restrict_cpus(std::vector<std::uint32_t>& cpus, const CpuSet& usable) {
    std::erase_if(cpus, [&](std::uint32_t cpu) { return !usable.has(cpu); });
    std::ranges::sort(cpus);
}

/// Memory beside the cpus' own (of a package, of the whole host) has cpus that are nearer to
/// another node.
void drop_overlaps(Objects& objects) {
    std::vector<std::size_t> order(objects.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return objects[i].cpus.size(); });
    CpuSet covered;
    for (const std::size_t i : order) {
        if (covered.has_any_of(objects[i].cpus)) objects[i].cpus.clear();
        covered.add(objects[i].cpus);
    }
    std::erase_if(objects, [](const TopologyObject& object) { return object.cpus.empty(); });
}

std::vector<std::uint32_t> uncovered(
    const Objects& objects, const std::vector<std::uint32_t>& usable
) {
    CpuSet covered;
    for (const TopologyObject& object : objects) covered.add(object.cpus);
    std::vector<std::uint32_t> left = usable;
    std::erase_if(left, [&](std::uint32_t cpu) { return covered.has(cpu); });
    return left;
}

void cover_with_one(Objects& objects, const std::vector<std::uint32_t>& usable) {
    std::vector<std::uint32_t> left = uncovered(objects, usable);
    if (left.empty()) return;
    std::uint32_t next = 0;
    for (const TopologyObject& object : objects) next = std::max(next, object.os_index + 1);
    objects.push_back({next, std::move(left)});
}

void cover_with_each(Objects& objects, const std::vector<std::uint32_t>& usable) {
    for (const std::uint32_t cpu : uncovered(objects, usable)) objects.push_back({cpu, {cpu}});
}

}  // namespace

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

HostTopology complete_topology(HostTopology found, std::span<const std::uint32_t> usable_cpus) {
    std::vector<std::uint32_t> usable(usable_cpus.begin(), usable_cpus.end());
    std::ranges::sort(usable);
    const CpuSet set(usable);
    for (Objects* objects :
         {&found.packages, &found.numas, &found.l3s, &found.l2s, &found.cores, &found.hwthreads}) {
        for (TopologyObject& object : *objects) restrict_cpus(object.cpus, set);
        drop_overlaps(*objects);
    }
    for (Objects* objects : {&found.packages, &found.numas, &found.l3s}) {
        cover_with_one(*objects, usable);
    }
    cover_with_each(found.cores, usable);
    cover_with_each(found.hwthreads, usable);
    for (TopologyDevice& device : found.devices) restrict_cpus(device.near_cpus, set);
    return found;
}

std::string format_cpu_list(std::span<const std::uint32_t> cpus) {
    std::string text;
    for (std::size_t begin = 0; begin < cpus.size();) {
        std::size_t end = begin + 1;
        while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
        if (begin != 0) text += ',';
        text += fmt::to_string(cpus[begin]);
        if (end - begin > 1) text += fmt::format("-{}", cpus[end - 1]);
        begin = end;
    }
    return text;
}

}  // namespace dlrt::launcher
