// SPDX-License-Identifier: Apache-2.0
#include "launcher/binding.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Shares = std::vector<CpuList>;
using Objects = std::vector<std::optional<MappedObject>>;
using Kind = BindingChoice::Kind;

/// `numa_count` nodes, each a package with one L3, of `core_count` cores of `thread_count` threads,
/// numbered as usual: first threads of all cores, then second ones.
HostTopology machine(
    std::uint32_t numa_count, std::uint32_t core_count, std::uint32_t thread_count
) {
    HostTopology topology;
    const std::uint32_t total = numa_count * core_count;
    for (std::uint32_t numa = 0; numa < numa_count; ++numa) {
        TopologyObject node{numa, {}, 0};
        for (std::uint32_t core = numa * core_count; core < (numa + 1) * core_count; ++core) {
            TopologyObject object{core, {}, 0};
            for (std::uint32_t thread = 0; thread < thread_count; ++thread) {
                object.cpus.push_back(core + thread * total);
                topology.hwthreads.push_back({core + thread * total, {core + thread * total}, 0});
            }
            node.cpus.insert(node.cpus.end(), object.cpus.begin(), object.cpus.end());
            topology.cores.push_back(object);
        }
        std::ranges::sort(node.cpus);
        topology.packages.push_back(node);
        topology.numas.push_back(node);
        topology.l3s.push_back(node);
    }
    return topology;
}

CpuList all_cpus(const HostTopology& topology) {
    CpuList cpus(topology.hwthreads.size());
    std::iota(cpus.begin(), cpus.end(), 0u);
    return cpus;
}

BindableHost host_of(HostTopology topology) {
    BindableHost host;
    host.name = "h";
    host.cpus = all_cpus(topology);
    host.topology = std::move(topology);
    return host;
}

Shares shares_of(const HostTopology& topology, std::size_t rank_count) {
    return CpuTree(topology, all_cpus(topology)).even_shares(rank_count);
}

BindingRequest to_level(TopologyLevel level) {
    BindingRequest request;
    request.choice = {Kind::object, level, true};
    return request;
}

Binding bound(const BindingRequest& request, const BindableHost& host, const Objects& objects) {
    Result<Binding> binding = bind_ranks(request, host, objects);
    INFO(last_error_text());
    REQUIRE(binding.has_value());
    return std::move(*binding);
}

std::string refusal(
    const BindingRequest& request, const BindableHost& host, const Objects& objects
) {
    REQUIRE(!bind_ranks(request, host, objects));
    return last_error_text();
}

}  // namespace

TEST_CASE("binding: shares are even and follow the cores", "[launcher]") {
    CHECK(shares_of(machine(1, 8, 1), 2) == Shares{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(shares_of(machine(1, 8, 1), 3) == Shares{{0, 1}, {2, 3, 4}, {5, 6, 7}});
    CHECK(shares_of(machine(1, 2, 1), 2) == Shares{{0}, {1}});
    CHECK(shares_of(machine(1, 2, 1), 1) == Shares{{0, 1}});
    CHECK(shares_of(machine(1, 2, 1), 3).empty());
}

TEST_CASE("binding: cores stay whole while there are enough of them", "[launcher]") {
    CHECK(shares_of(machine(1, 4, 2), 2) == Shares{{0, 1, 4, 5}, {2, 3, 6, 7}});
    CHECK(shares_of(machine(1, 4, 2), 3) == Shares{{0, 4}, {1, 5}, {2, 3, 6, 7}});
    CHECK(shares_of(machine(1, 2, 2), 3) == Shares{{0}, {2}, {1, 3}});
    CHECK(shares_of(machine(1, 2, 2), 4) == Shares{{0}, {2}, {1}, {3}});
}

TEST_CASE("binding: no share lies on two NUMA nodes when that can be avoided", "[launcher]") {
    CHECK(shares_of(machine(2, 4, 1), 2) == Shares{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(shares_of(machine(2, 4, 1), 3) == Shares{{0, 1}, {2, 3}, {4, 5, 6, 7}});
    CHECK(shares_of(machine(2, 4, 1), 5) == Shares{{0}, {1}, {2, 3}, {4, 5}, {6, 7}});
    // One node has seven usable cpus, the other one: both ranks stay on the first.
    CHECK(
        CpuTree(machine(2, 8, 1), CpuList{0, 1, 2, 3, 4, 5, 6, 8}).even_shares(2) ==
        Shares{{0, 1, 2}, {3, 4, 5, 6}}
    );
}

TEST_CASE("binding: fewer ranks than NUMA nodes get whole nodes", "[launcher]") {
    CHECK(shares_of(machine(4, 2, 1), 3) == Shares{{0, 1}, {2, 3, 4, 5}, {6, 7}});
    CHECK(shares_of(machine(4, 2, 1), 2) == Shares{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(shares_of(machine(4, 1, 1), 1) == Shares{{0, 1, 2, 3}});
    // Nodes of 8, 1, 1 usable cpus and two ranks: the second has both small ones.
    CHECK(
        CpuTree(machine(3, 8, 1), CpuList{0, 1, 2, 3, 4, 5, 6, 7, 8, 16}).even_shares(2) ==
        Shares{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 16}}
    );
}

TEST_CASE("binding: cpus that the topology doesn't know count as cores", "[launcher]") {
    CHECK(CpuTree({}, CpuList{3, 5, 6}).even_shares(3) == Shares{{3}, {5}, {6}});
    CHECK(CpuTree(machine(1, 2, 1), CpuList{0, 1, 9}).cpu_count() == 3);
    // Two memories of the same cpus are one place.
    HostTopology topology = machine(1, 4, 1);
    topology.numas.push_back(topology.numas[0]);
    CHECK(shares_of(topology, 1) == Shares{{0, 1, 2, 3}});
    CHECK(usable_objects(topology.numas, {}) == CpuList{0});
}

TEST_CASE("binding: every cpu belongs to one rank, on machines of all shapes", "[launcher]") {
    std::mt19937 random(11);
    const auto below = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    };
    for (int round = 0; round < 2000; ++round) {
        const HostTopology topology = machine(1 + below(4), 1 + below(5), 1 + below(2));
        CpuList cpus;
        for (const std::uint32_t cpu : all_cpus(topology)) {
            if (below(4) != 0) cpus.push_back(cpu);
        }
        const CpuTree tree(topology, cpus);
        CHECK(tree.cpu_count() == cpus.size());
        const std::size_t rank_count = 1 + below(12);
        const Shares shares = tree.even_shares(rank_count);
        REQUIRE(shares.empty() == (rank_count > cpus.size()));
        std::set<std::uint32_t> seen;
        std::size_t used_node_count = 0;
        for (const TopologyObject& numa : topology.numas) {
            used_node_count += common_cpus(numa.cpus, cpus).empty() ? 0u : 1u;
        }
        for (const CpuList& share : shares) {
            CHECK(!share.empty());
            CHECK(std::ranges::is_sorted(share));
            for (const std::uint32_t cpu : share) {
                CHECK(std::ranges::count(cpus, cpu) == 1);
                CHECK(seen.insert(cpu).second);
            }
            std::size_t node_count = 0;
            for (const TopologyObject& numa : topology.numas) {
                node_count += common_cpus(numa.cpus, share).empty() ? 0u : 1u;
            }
            CHECK((rank_count < used_node_count || node_count == 1));
        }
        if (rank_count > tree.core_count()) continue;
        for (const TopologyObject& core : topology.cores) {
            std::size_t owner_count = 0;
            for (const CpuList& share : shares) {
                owner_count += common_cpus(core.cpus, share).empty() ? 0u : 1u;
            }
            CHECK(owner_count <= 1);
        }
    }
}

TEST_CASE("binding: a number of cpus for each rank, on one node where it fits", "[launcher]") {
    BindingRequest request;
    request.cpus_per_rank = 2;
    const BindableHost flat = host_of(machine(2, 3, 1));
    CHECK(bound(request, flat, Objects(2)).cpus == Shares{{0, 1}, {3, 4}});
    // The third rank gets what is left of both.
    CHECK(bound(request, flat, Objects(3)).cpus == Shares{{0, 1}, {3, 4}, {2, 5}});
    CHECK(
        refusal(request, flat, Objects(4)) ==
        "--cpus-per-rank 2: 4 ranks want 2 cpus each, but there are 6 cpus on host h; valid are "
        "fewer ranks, --bind-to none or --oversubscribe"
    );
    const BindableHost threaded = host_of(machine(1, 4, 2));
    CHECK(bound(request, threaded, Objects(2)).cpus == Shares{{0, 4}, {1, 5}});
    request.cpus_per_rank = 1;
    // A thread each on cores of their own, until there are more ranks than cores.
    CHECK(bound(request, threaded, Objects(4)).cpus == Shares{{0}, {1}, {2}, {3}});
    CHECK(bound(request, threaded, Objects(5)).cpus == Shares{{0}, {4}, {1}, {5}, {2}});
    request = to_level(TopologyLevel::core);
    request.cpus_per_rank = 2;
    CHECK(bound(request, threaded, Objects(2)).cpus == Shares{{0, 1, 4, 5}, {2, 3, 6, 7}});
    CHECK(refusal(request, threaded, Objects(3))
              .starts_with(
                  "--cpus-per-rank 2: 3 ranks want 2 cores each, but there are 4 cores on host h; "
              ));
    request.oversubscription = Oversubscription::allowed;
    CHECK(bound(request, threaded, Objects(3)).cpus == Shares(3));
    request = to_level(TopologyLevel::numa);
    request.cpus_per_rank = 2;
    CHECK(
        refusal(request, threaded, Objects(1)) ==
        "--cpus-per-rank: does not go with --bind-to numa; valid are core, hwthread, share, none"
    );
}

TEST_CASE("binding: slots follow from the cpus that each rank wants", "[launcher]") {
    BindingRequest request;
    const BindableHost host = host_of(machine(1, 4, 2));
    CHECK(slots_of_cpus(request, host, 8) == 8);
    request.cpus_per_rank = 3;
    CHECK(slots_of_cpus(request, host, 8) == 2);
    request.cpus_per_rank = 9;
    CHECK(slots_of_cpus(request, host, 8) == 1);
    request = to_level(TopologyLevel::core);
    request.cpus_per_rank = 1;
    CHECK(slots_of_cpus(request, host, 8) == 4);
}

TEST_CASE("binding: to an object, neighbours get neighbouring ones", "[launcher]") {
    const BindableHost host = host_of(machine(2, 2, 2));
    CHECK(
        bound(to_level(TopologyLevel::core), host, Objects(3)).cpus ==
        Shares{{0, 4}, {1, 5}, {2, 6}}
    );
    CHECK(bound(to_level(TopologyLevel::hwthread), host, Objects(3)).cpus == Shares{{0}, {4}, {1}});
    CHECK(
        bound(to_level(TopologyLevel::numa), host, Objects(4)).cpus ==
        Shares{{0, 1, 4, 5}, {0, 1, 4, 5}, {2, 3, 6, 7}, {2, 3, 6, 7}}
    );
    CHECK(bound(to_level(TopologyLevel::package), host, Objects(1)).cpus == Shares{{0, 1, 4, 5}});
}

TEST_CASE(
    "binding: to the object that a rank was mapped to, around it or within it", "[launcher]"
) {
    const BindableHost host = host_of(machine(2, 2, 2));
    const auto at = [](TopologyLevel level, std::uint32_t index) {
        return std::optional(MappedObject{level, index});
    };
    const Objects numas = {
        at(TopologyLevel::numa, 0), at(TopologyLevel::numa, 1), at(TopologyLevel::numa, 0)};
    CHECK(
        bound(to_level(TopologyLevel::numa), host, numas).cpus ==
        Shares{{0, 1, 4, 5}, {2, 3, 6, 7}, {0, 1, 4, 5}}
    );
    CHECK(bound(to_level(TopologyLevel::core), host, numas).cpus == Shares{{0, 4}, {2, 6}, {1, 5}});
    // Ranks of one object share it evenly when nothing else is said.
    CHECK(bound({}, host, numas).cpus == Shares{{0, 4}, {2, 3, 6, 7}, {1, 5}});
    const Objects cores = {at(TopologyLevel::core, 3), at(TopologyLevel::core, 0)};
    CHECK(
        bound(to_level(TopologyLevel::package), host, cores).cpus ==
        Shares{{2, 3, 6, 7}, {0, 1, 4, 5}}
    );
    CHECK(bound({}, host, cores).cpus == Shares{{3, 7}, {0, 4}});
}

TEST_CASE("binding: only usable cpus of an object count", "[launcher]") {
    BindableHost host = host_of(machine(2, 2, 1));
    host.cpus = {1, 2, 3};
    CHECK(bound(to_level(TopologyLevel::numa), host, Objects(2)).cpus == Shares{{1}, {2, 3}});
    CHECK(bound(to_level(TopologyLevel::core), host, Objects(3)).cpus == Shares{{1}, {2}, {3}});
    CHECK(
        bound(to_level(TopologyLevel::numa), host, Objects(3)).cpus == Shares{{1}, {2, 3}, {2, 3}}
    );
}

TEST_CASE("binding: nobody is bound where ranks outnumber cpus, and it says why", "[launcher]") {
    BindableHost host = host_of(machine(1, 2, 1));
    const Binding binding = bound({}, host, Objects(3));
    CHECK(binding.cpus == Shares(3));
    CHECK(binding.unbound_reason == "3 ranks share 2 cpus of host h");
    host.cpus = {1};
    host.busy_cpu_count = 1;
    CHECK(
        bound({}, host, Objects(2)).unbound_reason ==
        "2 ranks share 1 cpu of host h (1 cpu held by other jobs)"
    );
    const Objects same(3, MappedObject{TopologyLevel::core, 1});
    CHECK(
        bound({}, host, same).unbound_reason.starts_with("3 ranks share 1 cpu of core 1 of host h")
    );
    host.cpus.clear();
    host.unbound_reason = "a quota";
    CHECK(bound({}, host, Objects(1)).unbound_reason == "a quota");
    BindingRequest request;
    request.choice.kind = Kind::none;
    CHECK(bound(request, host_of(machine(1, 2, 1)), Objects(1)).unbound_reason == "--bind-to none");
}

TEST_CASE("binding: what was asked for and can't be met is an error", "[launcher]") {
    BindableHost host = host_of(machine(1, 2, 1));
    CHECK(
        refusal(to_level(TopologyLevel::core), host, Objects(3)) ==
        "--bind-to core: 2 ranks would share 1 cpu of core 0 of host h; valid are fewer ranks, "
        "--bind-to none or --oversubscribe"
    );
    CHECK(
        refusal(to_level(TopologyLevel::numa), host, Objects(3)) ==
        "--bind-to numa: 3 ranks would share 2 cpus of numa 0 of host h; valid are fewer ranks, "
        "--bind-to none or --oversubscribe"
    );
    BindingRequest request;
    request.choice.is_explicit = true;
    CHECK(
        refusal(request, host, Objects(3)) ==
        "--bind-to share: 3 ranks share 2 cpus of host h; valid are fewer ranks, --bind-to none or "
        "--oversubscribe"
    );
    request = to_level(TopologyLevel::core);
    request.oversubscription = Oversubscription::allowed;
    CHECK(bound(request, host, Objects(3)).cpus == Shares{{0}, {0}, {1}});
    host.cpus.clear();
    host.unbound_reason = "a quota of 1 cpu leaves it to the kernel which ones are used";
    CHECK(
        refusal(to_level(TopologyLevel::core), host, Objects(1)) ==
        "--bind-to core: host h: a quota of 1 cpu leaves it to the kernel which ones are used; "
        "valid is --bind-to none"
    );
    BindableHost unknown;
    unknown.name = "h";
    unknown.cpus = {0};
    CHECK(
        refusal(to_level(TopologyLevel::l3), unknown, Objects(1)) ==
        "--bind-to l3: no l3 of host h is known; valid are fewer ranks, --bind-to none or "
        "--oversubscribe"
    );
    // As a wish (--bind-to core:if-supported) it is none.
    request = to_level(TopologyLevel::core);
    request.choice.is_explicit = false;
    const Binding wish = bound(request, host_of(machine(1, 2, 1)), Objects(3));
    CHECK(wish.cpus == Shares(3));
    CHECK(wish.unbound_reason == "2 ranks would share 1 cpu of core 0 of host h");
}

}  // namespace dlrt::launcher
