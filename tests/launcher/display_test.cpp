// SPDX-License-Identifier: Apache-2.0
#include "launcher/display.hpp"

#include "launcher/topology_text.hpp"
#include "launcher/topology_tree.hpp"
#include "tests/launcher/topology_support.hpp"

#include <nlohmann/json.hpp>

namespace dlrt::launcher {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

constexpr const char* two_packages = "package:2 l3:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)";

/// Ranks with these cpus on one host "h".
Placement placed(const Lists& cpus_by_rank, const std::string& unbound_reason = "") {
    Placement placement;
    placement.hosts.push_back({});
    placement.hosts[0].name = "h";
    placement.hosts[0].unbound_reason = unbound_reason;
    for (const auto& cpus : cpus_by_rank) {
        PlacedRank rank;
        rank.local_rank = placement.size();
        rank.cpus = cpus;
        placement.ranks.push_back(std::move(rank));
    }
    return placement;
}

std::string shown(
    const HostTopology& host, const Placement& placement, const char* what,
    Display::Format format = Display::Format::text
) {
    Options options;
    Display& display = options.display;
    display.topology = std::string_view(what).find("topo") != std::string_view::npos;
    display.binding = std::string_view(what).find("bind") != std::string_view::npos;
    display.format = format;
    return render_display(options, placement, {host});
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
}

std::string line_of(
    const HostTopology& host, const Lists& cpus, MemoryBinding memory = MemoryBinding::first_touch
) {
    return binding_lines(placed(cpus, "why"), {host}, memory).at(0);
}

}  // namespace

TEST_CASE(
    "topology text: what holds what is indented, cores that are alike share a line", "[launcher]"
) {
    CHECK(
        shown(made_up_host(two_packages), placed({{0}}), "topo") ==
        "h: 2 packages, 1 NUMA node, 4 cores, 8 usable cpus\n"
        "  numa 0 (1 GiB)\n"
        "    package 0\n"
        "      l3 0 (16 MiB)\n"
        "        cores 0-1 (cpus 0-1,4-5)\n"
        "    package 1\n"
        "      l3 1 (16 MiB)\n"
        "        cores 2-3 (cpus 2-3,6-7)\n"
    );
}

TEST_CASE("topology text: ranks stand behind their cores", "[launcher]") {
    const Placement placement = placed({{0, 4}, {1, 5}, {2, 3, 6, 7}, {2, 3, 6, 7}});
    const std::string text = shown(made_up_host(two_packages), placement, "topo,bind");
    CHECK(count_of(text, "core 0 (cpus 0,4): rank 0\n") == 1);
    CHECK(count_of(text, "core 1 (cpus 1,5): rank 1\n") == 1);
    CHECK(count_of(text, "cores 2-3 (cpus 2-3,6-7): ranks 2-3\n") == 1);
}

TEST_CASE("topology text: a package holds its NUMA nodes, these their caches", "[launcher]") {
    CHECK(
        shown(made_up_host("package:1 numa:2 l3:1 core:2 pu:1"), placed({{0}}), "topo") ==
        "h: 1 package, 2 NUMA nodes, 4 cores, 4 usable cpus\n"
        "  package 0\n"
        "    numa 0 (1 GiB)\n"
        "      l3 0 (16 MiB)\n"
        "        cores 0-1 (cpus 0-1)\n"
        "    numa 1 (1 GiB)\n"
        "      l3 1 (16 MiB)\n"
        "        cores 2-3 (cpus 2-3)\n"
    );
}

TEST_CASE("topology text: fast and slow cores, and a cache that some share", "[launcher]") {
    const std::string text = shown(recorded_host("hybrid"), placed({{0}}), "topo");
    CHECK(count_of(text, "fast cores 0-1 (cpus 0-3)\n") == 1);
    CHECK(count_of(text, "l2 2 (4 MiB)\n") == 1);
    CHECK(count_of(text, "l2 ") == 1);
    CHECK(count_of(text, "slow cores 2-5 (cpus 4-7)\n") == 1);
}

TEST_CASE("topology text: devices stand where they are near", "[launcher]") {
    const std::string text = shown(recorded_host("gpus"), placed({{0}}), "topo");
    CHECK(text.find("gpu cuda0 (NVIDIA H100, 0000:11:00.0)") < text.find("package 1"));
    CHECK(text.find("network eth0 (E810, 0000:22:00.0)") > text.find("package 1"));
    CHECK(text.find("nvme") == std::string::npos);
}

TEST_CASE("topology text: no cache that isn't there is drawn", "[launcher]") {
    const std::string text = shown(recorded_host("cpuless"), placed({{0}}), "topo");
    CHECK(count_of(text, "l3") == 0);
    CHECK(count_of(text, "numa 1 (32 GiB)\n") == 1);
}

TEST_CASE("topology text: unbound ranks are said with the reason", "[launcher]") {
    const Placement placement = placed({{}, {}}, "2 ranks share 1 cpu");
    const std::string text = shown(made_up_host("core:1 pu:1"), placement, "topo,bind");
    CHECK(count_of(text, "rank 0 on h: not bound (2 ranks share 1 cpu)\n") == 1);
    CHECK(count_of(text, "rank 1 on h: not bound") == 1);
    CHECK(count_of(text, "core 0 (cpu 0)\n") == 1);
}

TEST_CASE("binding lines: packages, cores and cpus in words", "[launcher]") {
    const HostTopology host = made_up_host(two_packages);
    CHECK(line_of(host, {{0, 1, 4, 5}}) == "rank 0 on h: package 0 cores 0-1 (cpus 0-1,4-5)");
    CHECK(line_of(host, {{2}}) == "rank 0 on h: package 1 core 2 in part (cpu 2)");
    CHECK(
        line_of(host, {{1, 2, 5, 6}}) ==
        "rank 0 on h: package 0 core 1 and package 1 core 2 (cpus 1-2,5-6)"
    );
    CHECK(line_of(host, {{}}) == "rank 0 on h: not bound (why)");
}

TEST_CASE("binding lines: bound memory is said", "[launcher]") {
    const HostTopology host = made_up_host("numa:2 core:2 pu:1");
    CHECK(
        line_of(host, {{2}}, MemoryBinding::local) ==
        "rank 0 on h: package 0 core 2 (cpu 2), memory of numa 1"
    );
    CHECK(
        line_of(host, {{1, 2}}, MemoryBinding::interleave) ==
        "rank 0 on h: package 0 cores 1-2 (cpus 1-2), memory interleaved over numa 0-1"
    );
}

TEST_CASE("topology svg: a rectangle for each object, a colour for each rank", "[launcher]") {
    const Placement placement = placed({{0, 4}, {1, 5}});
    const HostTopology host = made_up_host(two_packages);
    const std::string svg = shown(host, placement, "topo,bind", Display::Format::svg);
    // Host, NUMA node, 2 packages, 2 caches, 4 cores, 8 threads.
    CHECK(count_of(svg, "<rect ") == 18);
    CHECK(count_of(svg, "<title>cpu 4: rank 0</title>") == 1);
    CHECK(count_of(svg, "<title>cpu 7</title>") == 1);
    CHECK(count_of(svg, "#9ecae9") == 2);
    CHECK(count_of(shown(host, placement, "topo", Display::Format::svg), "#9ecae9") == 0);
}

TEST_CASE("topology svg: names from outside can't break it", "[launcher]") {
    HostTopology host = recorded_host("gpus");
    host.devices[0].name = "a<b>&\"c\x01";
    const std::string svg = shown(host, placed({{0}}), "topo", Display::Format::svg);
    CHECK(count_of(svg, "a&lt;b&gt;&amp;&quot;c?") == 1);
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("topology json: all of it, as scripts want it", "[launcher]") {
    const std::string text = shown(
        recorded_host("gpus"), placed({{0, 8}, {}}, "why"), "topo,bind", Display::Format::json
    );
    const nlohmann::json host = nlohmann::json::parse(text)["hosts"][0];
    CHECK(host["topology"]["cores"].size() == 8);
    CHECK(host["topology"]["devices"][1]["name"] == "mlx5_0");
    CHECK(host["binding"][0]["cpus"] == nlohmann::json({0, 8}));
    CHECK(host["binding"][1]["unbound"] == "why");
    CHECK(shown(recorded_host("gpus"), placed({{0}}), "").empty());
}

TEST_CASE(
    "display: allocation and map, which are what a dry run shows with the binding", "[launcher]"
) {
    Placement placement = placed({{0}, {}}, "why");
    placement.hosts[0].slots = 2;
    placement.hosts[0].rank_count = 2;
    placement.hosts[0].has_explicit_slots = true;
    placement.hosts[0].max_slots = 3;
    placement.ranks[1].slot = 1;
    placement.ranks[1].object = MappedObject{TopologyLevel::numa, 4};
    Options options;
    options.blocks.push_back({});
    options.blocks[0].arguments = {"./a", "b"};
    options.display.allocation = true;
    const std::vector<HostTopology> hosts = {made_up_host("core:2 pu:1")};
    CHECK(render_display(options, placement, hosts) == "host h: 2 slots, 3 at most, 2 ranks\n");
    options.display = {};
    CHECK(render_display(options, placement, hosts).empty());
    options.is_dry_run = true;
    CHECK(
        render_display(options, placement, hosts) ==
        "rank 0: host h, slot 0: ./a\n"
        "rank 1: host h, slot 1, numa 4: ./a\n"
        "rank 0 on h: package 0 core 0 (cpu 0)\n"
        "rank 1 on h: not bound (why)\n"
    );
}

}  // namespace dlrt::launcher
