// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology.hpp"

#include "launcher/topology_discovery.hpp"
#include "launcher/topology_need.hpp"
#include "launcher/topology_sysfs.hpp"
#include "runtime/wireup/usable_cpus.hpp"
#include "tests/launcher/topology_support.hpp"

#include <filesystem>
#include <fstream>
#include <stdlib.h>

namespace dlrt::launcher {
namespace {

/// Two packages, in each two NUMA nodes of two cores; second threads are numbered after all first.
constexpr const char*
    large = "package:2 numa:2 l3:1 core:2 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)";

std::string devices_of(const HostTopology& host, TopologyDevice::Kind kind) {
    std::string text;
    for (const TopologyDevice& device : host.devices) {
        if (device.kind != kind) continue;
        text += device.name + ":" + format_cpu_list(device.near_cpus) + " ";
    }
    return text;
}

/// The kernel's files about a host, made from its topology.
class FakeSysfs {
  public:
    explicit FakeSysfs(const HostTopology& host) {
        std::string name = (std::filesystem::temp_directory_path() / "sysfs-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        root_ = name;
        const bool has_threads = host.cores.size() < host.hwthreads.size();
        write("cpu/smt/active", has_threads ? "1" : "0");
        std::vector<std::uint32_t> nodes;
        for (const TopologyObject& numa : host.numas) {
            nodes.push_back(numa.os_index);
            const std::string folder = "node/node" + std::to_string(numa.os_index);
            write(folder + "/cpulist", format_cpu_list(numa.cpus));
        }
        write("node/online", format_cpu_list(nodes));
        write_groups(host.packages, "core_siblings_list", "physical_package_id");
        write_groups(host.cores, "thread_siblings_list", "core_id");
    }
    ~FakeSysfs() { std::filesystem::remove_all(root_); }
    FakeSysfs(const FakeSysfs&) = delete;
    FakeSysfs& operator=(const FakeSysfs&) = delete;
    const std::string& root() const { return root_; }

  private:
    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file(root_ + "/sys/devices/system/" + path);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
    }
    void write_groups(
        std::span<const TopologyObject> groups, const char* list, const char* number
    ) {
        for (const TopologyObject& group : groups) {
            for (const std::uint32_t cpu : group.cpus) {
                const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/topology/";
                write(folder + list, format_cpu_list(group.cpus));
                write(folder + number, std::to_string(group.os_index));
            }
        }
    }
    std::string root_;
};

void check_same_places(const HostTopology& a, const HostTopology& b) {
    CHECK(cpus_of(a.packages) == cpus_of(b.packages));
    CHECK(cpus_of(a.numas) == cpus_of(b.numas));
    CHECK(cpus_of(a.cores) == cpus_of(b.cores));
    CHECK(cpus_of(a.hwthreads) == cpus_of(b.hwthreads));
}

TopologyDetail detail_of(const std::vector<std::string>& words) {
    const Result<Options> options = parse_options(words);
    INFO(last_error_text());
    REQUIRE(options.has_value());
    return detail_needed(*options);
}

/// Of a host with cpus 0-3, of which some are busy.
std::uint32_t borrowed(const std::vector<std::string>& words, std::vector<std::uint32_t> busy) {
    const Result<Options> options = parse_options(words);
    REQUIRE(options.has_value());
    HostFacts facts;
    facts.cpus = {0, 1, 2, 3};
    facts.usable_cpu_count = 4;
    facts.busy_cpus = std::move(busy);
    return cpus_to_borrow(*options, facts, options->rank_count());
}

}  // namespace

TEST_CASE("topology: packages hold NUMA nodes hold cores hold threads", "[launcher]") {
    const HostTopology host = made_up_host(large);
    CHECK(cpus_of(host.packages) == "0-3,8-11 4-7,12-15");
    CHECK(cpus_of(host.numas) == "0-1,8-9 2-3,10-11 4-5,12-13 6-7,14-15");
    CHECK(cpus_of(host.l3s) == cpus_of(host.numas));
    CHECK(cpus_of(host.cores) == "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15");
    CHECK(
        cpus_of(host.objects(TopologyLevel::hwthread)) == "0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15"
    );
}

TEST_CASE("topology: cpus that are not usable are not there", "[launcher]") {
    const HostTopology host = made_up_host(large, std::vector<std::uint32_t>{1, 2, 3, 9, 14});
    CHECK(cpus_of(host.packages) == "1-3,9 14");
    CHECK(cpus_of(host.numas) == "1,9 2-3 14");
    CHECK(cpus_of(host.cores) == "1,9 2 3 14");
}

TEST_CASE("topology: a level that isn't there is one object of all cpus", "[launcher]") {
    const HostTopology host = made_up_host("core:4 pu:1");
    CHECK(cpus_of(host.packages) == "0-3");
    CHECK(cpus_of(host.l3s) == "0-3");
    CHECK(host.l2s.empty());
}

TEST_CASE("topology: without cores each thread is one", "[launcher]") {
    const HostTopology host = made_up_host("package:2 pu:2");
    CHECK(cpus_of(host.cores) == "0 1 2 3");
    CHECK(cpus_of(host.packages) == "0-1 2-3");
}

TEST_CASE("topology: a NUMA node that nothing else marks has its own cpus", "[launcher]") {
    CHECK(cpus_of(made_up_host("numa:2 core:2 pu:1").numas) == "0-1 2-3");
    CHECK(cpus_of(made_up_host("package:1 numa:4 core:1 pu:2").numas) == "0-1 2-3 4-5 6-7");
}

TEST_CASE("topology: a second memory of the same cpus is no second place", "[launcher]") {
    const HostTopology host = made_up_host("package:2 [numa] [numa] core:4 pu:1");
    CHECK(cpus_of(host.numas) == "0-3 4-7");
    CHECK(host.numas[1].os_index == 2);
}

TEST_CASE("topology: nodes without memory count, memory without cpus doesn't", "[launcher]") {
    const HostTopology host = recorded_host("cpuless");
    CHECK(cpus_of(host.numas) == "0-3 4-7");
    CHECK(host.numas[0].size_bytes == 0);
    CHECK(host.numas[1].size_bytes == 32ull << 30);
}

TEST_CASE("topology: fast and slow cores are told apart", "[launcher]") {
    const HostTopology host = recorded_host("hybrid");
    CHECK(cpus_of(host.cores) == "0-1 2-3 4 5 6 7");
    CHECK(cpus_of(host.l2s) == "0-1 2-3 4-7");
    std::string kinds;
    for (const TopologyObject& core : host.cores) kinds += std::to_string(core.kind);
    CHECK(kinds == "110000");
    CHECK(made_up_host(large).cores[0].kind == 0);
}

TEST_CASE("topology: an adapter is one device, by the name that programs use", "[launcher]") {
    const HostTopology host = recorded_host("gpus");
    CHECK(
        devices_of(host, TopologyDevice::Kind::gpu) ==
        "cuda0:0-3,8-11 cuda1:0-3,8-11 cuda2:4-7,12-15 "
    );
    CHECK(devices_of(host, TopologyDevice::Kind::network) == "mlx5_0:0-3,8-11 eth0:4-7,12-15 ");
    CHECK(devices_of(host, TopologyDevice::Kind::other).empty());
    CHECK(host.devices[0].detail == "NVIDIA H100, 0000:11:00.0");
}

TEST_CASE("topology: devices far from all usable cpus stay, near none", "[launcher]") {
    const HostTopology host = recorded_host("gpus", std::vector<std::uint32_t>{0, 8});
    CHECK(devices_of(host, TopologyDevice::Kind::network) == "mlx5_0:0,8 eth0: ");
    CHECK(cpus_of(host.packages) == "0,8");
}

TEST_CASE("topology: what hwloc doesn't understand is an error with its name", "[launcher]") {
    CHECK(!read_hwloc_topology({TopologyDetail::full, {}, "/no/such.xml", ""}));
    CHECK(last_error_text().find("/no/such.xml") != std::string::npos);
    CHECK(!read_hwloc_topology({TopologyDetail::full, {}, "", "package:x"}));
    CHECK(last_error_text().find("package:x") != std::string::npos);
}

TEST_CASE("topology: the quick look finds the places that hwloc finds", "[launcher]") {
    const auto description = GENERATE(
        as<std::string>{}, large, "package:2 numa:1 core:8 pu:1", "package:1 core:3 pu:2",
        "package:2 numa:4 core:2 pu:4", "package:2 numa:2 core:2 pu:1(indexes=0,4,2,6,1,5,3,7)",
        "numa:2 package:2 core:2 pu:2"
    );
    const HostTopology host = made_up_host(description);
    std::vector<std::uint32_t> usable;
    for (const TopologyObject& thread : host.hwthreads) usable.push_back(thread.os_index);
    CAPTURE(description);
    check_same_places(read_quick_topology(FakeSysfs(host).root(), usable), host);
    usable.erase(usable.begin() + 1, usable.begin() + 3);
    check_same_places(
        read_quick_topology(FakeSysfs(host).root(), usable), made_up_host(description, usable)
    );
}

TEST_CASE("topology: of this host quick look and hwloc say the same", "[launcher]") {
    const std::vector<std::uint32_t> usable = find_usable_cpus().cpus;
    const Result<HostTopology> quick = discover_topology(TopologyDetail::quick, usable);
    const Result<HostTopology> full = read_hwloc_topology({TopologyDetail::full, usable, "", ""});
    REQUIRE((quick.has_value() && full.has_value()));
    check_same_places(*quick, *full);
}

TEST_CASE("topology: where the kernel says nothing all cpus are cores of one place", "[launcher]") {
    const HostTopology host = read_quick_topology(
        "/no/such/folder", std::vector<std::uint32_t>{1, 4}
    );
    CHECK(cpus_of(host.numas) == "1,4");
    CHECK(cpus_of(host.l3s) == "1,4");
    CHECK(cpus_of(host.cores) == "1 4");
}

TEST_CASE("topology: hwloc is asked only for what needs it", "[launcher]") {
    CHECK(detail_of({"-np", "4", "a"}) == TopologyDetail::quick);
    CHECK(detail_of({"a"}) == TopologyDetail::quick);
    Options options;
    options.mapping.level = TopologyLevel::l3;
    CHECK(detail_needed(options) == TopologyDetail::full);
    options.display.topology = true;
    CHECK(detail_needed(options) == TopologyDetail::devices);
}

TEST_CASE("topology: cpus are borrowed only where that helps", "[launcher]") {
    CHECK(borrowed({"-np", "2", "a"}, {}) == 0);
    CHECK(borrowed({"-np", "2", "a"}, {0, 1}) == 0);
    CHECK(borrowed({"-np", "3", "a"}, {0, 1}) == 3);
    CHECK(borrowed({"-np", "5", "a"}, {0, 1}) == 0);
    CHECK(borrowed({"a"}, {0}) == 4);
}

TEST_CASE("topology: lists of cpus are as short as the kernel's", "[launcher]") {
    CHECK(format_cpu_list(std::vector<std::uint32_t>{0, 1, 2, 7}) == "0-2,7");
    CHECK(format_cpu_list(std::vector<std::uint32_t>{5}) == "5");
    CHECK(format_cpu_list({}).empty());
}

}  // namespace dlrt::launcher
