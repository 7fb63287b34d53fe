// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_sysfs.hpp"

#include "runtime/base/fd.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// Files of /sys are short; more than this is of no use here.
std::string read_short_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char text[4096];
    const ssize_t got = file.is_open() ? ::read(file.get(), text, sizeof text) : 0;
    return {text, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

std::vector<std::uint32_t> read_list(const std::string& path) {
    return parse_cpu_list(read_short_file(path)).value_or(std::vector<std::uint32_t>{});
}

std::uint32_t read_number(const std::string& path) {
    const std::string text = read_short_file(path);
    std::uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

class SysfsReader {
  public:
    SysfsReader(const std::string& root, std::span<const std::uint32_t> usable)
        : cpu_folder_(root + "/sys/devices/system/cpu/"),
          node_folder_(root + "/sys/devices/system/node/"),
          usable_(usable.begin(), usable.end()) {
        std::ranges::sort(usable_);
    }
    HostTopology read();

  private:
    void read_numas();
    void read_cores();
    void sort_by_place();
    std::vector<TopologyObject> read_groups(const char* list_name, const char* number_name) const;

    std::string cpu_folder_;
    std::string node_folder_;
    std::vector<std::uint32_t> usable_;
    HostTopology topology_;
};

void SysfsReader::read_numas() {
    const std::vector<std::uint32_t> numbers = read_list(node_folder_ + "online");
    if (numbers.size() <= 1) {
        topology_.numas.push_back({numbers.empty() ? 0 : numbers[0], usable_});
        return;
    }
    for (const std::uint32_t number : numbers) {
        topology_.numas.push_back(
            {number, read_list(fmt::format("{}node{}/cpulist", node_folder_, number))}
        );
    }
}

/// One file for each object, not for each cpu: it lists all cpus of the object.
std::vector<TopologyObject> SysfsReader::read_groups(const char* list_name, const char* number_name)
    const {
    std::vector<TopologyObject> groups;
    std::vector<bool> is_known;
    for (const std::uint32_t cpu : usable_) {
        if (cpu < is_known.size() && is_known[cpu]) continue;
        const std::string folder = fmt::format("{}cpu{}/topology/", cpu_folder_, cpu);
        std::vector<std::uint32_t> cpus = read_list(folder + list_name);
        if (std::ranges::find(cpus, cpu) == cpus.end()) cpus = {cpu};
        for (const std::uint32_t member : cpus) {
            if (member >= is_known.size()) is_known.resize(member + 1);
            is_known[member] = true;
        }
        groups.push_back({read_number(folder + number_name), std::move(cpus)});
    }
    return groups;
}

void SysfsReader::read_cores() {
    if (read_number(cpu_folder_ + "smt/active") != 0) {
        topology_.cores = read_groups("thread_siblings_list", "core_id");
        return;
    }
    for (const std::uint32_t cpu : usable_) topology_.cores.push_back({cpu, {cpu}});
}

/// hwloc's order: by package, therein by NUMA node, therein by core, each by its first cpu.
void SysfsReader::sort_by_place() {
    const auto by_first_cpu = [](const TopologyObject& a, const TopologyObject& b) {
        return a.cpus.front() < b.cpus.front();
    };
    std::ranges::sort(topology_.packages, by_first_cpu);
    std::vector<std::pair<std::size_t, std::size_t>> place;  // By cpu.
    const auto number_cpus = [&](const std::vector<TopologyObject>& objects, auto member) {
        for (std::size_t i = 0; i < objects.size(); ++i) {
            for (const std::uint32_t cpu : objects[i].cpus) {
                if (cpu >= place.size()) place.resize(cpu + 1);
                place[cpu].*member = i;
            }
        }
    };
    const auto by_place = [&](const TopologyObject& a, const TopologyObject& b) {
        return std::pair(place[a.cpus.front()], a.cpus.front()) <
               std::pair(place[b.cpus.front()], b.cpus.front());
    };
    number_cpus(topology_.packages, &std::pair<std::size_t, std::size_t>::first);
    std::ranges::sort(topology_.numas, by_place);
    number_cpus(topology_.numas, &std::pair<std::size_t, std::size_t>::second);
    std::ranges::sort(topology_.cores, by_place);
    for (const TopologyObject& core : topology_.cores) {
        for (const std::uint32_t cpu : core.cpus) topology_.hwthreads.push_back({cpu, {cpu}});
    }
}

HostTopology SysfsReader::read() {
    read_numas();
    topology_.packages = read_groups("core_siblings_list", "physical_package_id");
    read_cores();
    topology_ = complete_topology(std::move(topology_), usable_);
    topology_.hwthreads.clear();
    sort_by_place();
    return std::move(topology_);
}

}  // namespace

HostTopology read_quick_topology(
    const std::string& root, std::span<const std::uint32_t> usable_cpus
) {
    return SysfsReader(root, usable_cpus).read();
}

bool has_memory(const std::string& root, std::uint32_t numa_os_index) {
    const auto numbers = read_list(root + "/sys/devices/system/node/has_memory");
    return numbers.empty() || std::ranges::find(numbers, numa_os_index) != numbers.end();
}

}  // namespace dlrt::launcher
