// SPDX-License-Identifier: Apache-2.0
#include "launcher/placer.hpp"

#include "launcher/hostfile.hpp"
#include "launcher/topology_sysfs.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;
using Cpus = std::vector<std::uint32_t>;
using Offers = std::vector<std::optional<HostOffer>>;

/// `cpu_count` cores of one thread on `numa_count` nodes, each a package.
HostOffer offer_of(std::uint32_t numa_count, std::uint32_t cpu_count) {
    HostOffer offer;
    offer.cpus.resize(cpu_count);
    std::iota(offer.cpus.begin(), offer.cpus.end(), 0u);
    offer.usable_cpu_count = cpu_count;
    HostTopology& topology = offer.topology;
    for (const std::uint32_t cpu : offer.cpus) topology.cores.push_back({cpu, {cpu}});
    topology.hwthreads = topology.cores;
    for (std::uint32_t numa = 0; numa < numa_count; ++numa) {
        const auto begin = offer.cpus.begin() + cpu_count * numa / numa_count;
        const auto end = offer.cpus.begin() + cpu_count * (numa + 1) / numa_count;
        topology.numas.push_back({numa, Cpus(begin, end)});
    }
    topology.packages = topology.numas;
    topology.l3s = topology.numas;
    return offer;
}

Allocation allocation_from(std::string_view hostfile) {
    const auto mentions = parse_hostfile(hostfile, "F");
    REQUIRE(mentions.has_value());
    Result<Allocation> allocation = allocate(*mentions, OwnHost("me", {}, "", ""));
    REQUIRE(allocation.has_value());
    return std::move(*allocation);
}

Options options_of(Words words) {
    words.emplace_back("a");
    Result<Options> options = parse_options(words);
    INFO(last_error_text());
    REQUIRE(options.has_value());
    return std::move(*options);
}

Placement placed(const Words& words, std::string_view hostfile, const Offers& offers) {
    Result<Placement> placement = place_ranks(options_of(words), allocation_from(hostfile), offers);
    INFO(last_error_text());
    REQUIRE(placement.has_value());
    return std::move(*placement);
}

std::string refusal(const Words& words, std::string_view hostfile, const Offers& offers) {
    REQUIRE(!place_ranks(options_of(words), allocation_from(hostfile), offers));
    return last_error_text();
}

/// "0.1:2-3", host, local rank and cpus of each rank; "-" for an unbound one.
Words lines_of(const Placement& placement) {
    Words lines;
    for (const PlacedRank& rank : placement.ranks) {
        const std::string cpus = rank.cpus.empty() ? "-" : format_cpu_list(rank.cpus);
        lines.push_back(fmt::format("{}.{}:{}", rank.host_index, rank.local_rank, cpus));
    }
    return lines;
}

constexpr std::string_view three_hosts = "h0 slots=3\nh1 slots=1\nh2 slots=2\n";

Offers three_offers() {
    return {offer_of(1, 4), offer_of(1, 1), offer_of(2, 4)};
}

}  // namespace

TEST_CASE("placer: three hosts of different sizes by every policy", "[launcher]") {
    const auto lines = [](const Words& words) {
        return lines_of(placed(words, three_hosts, three_offers()));
    };
    const Words by_slot = {"0.0:0", "0.1:1", "0.2:2-3", "1.0:0", "2.0:0-1", "2.1:2-3"};
    CHECK(lines({}) == by_slot);
    CHECK(lines({"-np", "5"}) == Words{"0.0:0", "0.1:1", "0.2:2-3", "1.0:0", "2.0:0-3"});
    CHECK(
        lines({"--map-by", "host"}) ==
        Words{"0.0:0", "1.0:0", "2.0:0-1", "0.1:1", "2.1:2-3", "0.2:2-3"}
    );
    CHECK(lines({"--map-by", "host", "--rank-by", "slot"}) == by_slot);
    CHECK(
        lines({"--rank-by", "host"}) ==
        Words{"0.0:0", "1.0:0", "2.0:0-1", "0.1:1", "2.1:2-3", "0.2:2-3"}
    );
    CHECK(
        lines({"--map-by", "numa"}) ==
        Words{"0.0:0", "0.1:1", "0.2:2-3", "1.0:0", "2.0:0-1", "2.1:2-3"}
    );
    CHECK(
        lines({"--map-by", "core"}) == Words{"0.0:0", "0.1:1", "0.2:2", "1.0:0", "2.0:0", "2.1:1"}
    );
    CHECK(lines({"--map-by", "ppr:1:package"}) == Words{"0.0:0-3", "1.0:0", "2.0:0-1", "2.1:2-3"});
    CHECK(lines({"--ppn", "1"}) == Words{"0.0:0-3", "1.0:0", "2.0:0-3"});
    CHECK(lines({"--map-by", "seq"}) == Words{"0.0:0-3", "1.0:0", "2.0:0-3"});
    CHECK(
        lines({"--bind-to", "core"}) == Words{"0.0:0", "0.1:1", "0.2:2", "1.0:0", "2.0:0", "2.1:1"}
    );
    CHECK(
        lines({"-np", "8", "--oversubscribe"}) ==
        Words{"0.0:-", "0.1:-", "0.2:-", "0.3:-", "0.4:-", "1.0:0", "2.0:0-1", "2.1:2-3"}
    );
}

TEST_CASE("placer: programs follow each other in the order of ranks", "[launcher]") {
    const auto blocks = [](const Words& words) {
        const Placement placement = placed(words, three_hosts, three_offers());
        Cpus result;
        for (const PlacedRank& rank : placement.ranks) result.push_back(rank.block_index);
        return result;
    };
    CHECK(
        blocks({"-np", "1", "b", ":", "-np", "4", "c", ":", "-np", "1"}) == Cpus{0, 1, 1, 1, 1, 2}
    );
}

TEST_CASE("placer: a host is described with its slots and why nobody is bound", "[launcher]") {
    const Placement placement = placed(
        {"-np", "3"}, "h0 slots=3 max_slots=4\nh1\n", {offer_of(1, 2), offer_of(1, 5)}
    );
    REQUIRE(placement.hosts.size() == 1);
    CHECK(
        placement.hosts[0] ==
        PlacedHost{"h0", 3, true, 4, 2, {}, 3, "3 ranks share 2 cpus of host h0"}
    );
    REQUIRE(placement.idle_hosts.size() == 1);
    CHECK(placement.idle_hosts[0].slots == 5);
    CHECK(!placement.idle_hosts[0].has_explicit_slots);
    CHECK(placement.warnings == Words{"3 ranks share 2 usable cpus on h0"});
    CHECK(placed({"-np", "3", "--oversubscribe"}, "h0", {offer_of(1, 2)}).warnings.empty());
}

TEST_CASE("placer: hosts without ranks leave no gap in the numbers", "[launcher]") {
    const Placement placement = placed(
        {"--map-by", "seq", "-np", "2"}, "h1\nh2\nh0\nh1\n",
        {offer_of(1, 1), offer_of(1, 3), offer_of(1, 2)}
    );
    CHECK(lines_of(placement) == Words{"0.0:0", "1.0:0-2"});
    CHECK(placement.hosts[0].name == "h1");
    CHECK(placement.hosts[1].name == "h2");
    const Placement later = placed(
        {"--map-by", "ppr:2:core", "-np", "2"}, "h1:2\nh2\n", {offer_of(1, 1), offer_of(1, 3)}
    );
    CHECK(later.hosts.size() == 1);
}

TEST_CASE("placer: cpus per rank decide how many slots a host has", "[launcher]") {
    const Offers offers = {offer_of(2, 6)};
    CHECK(
        lines_of(placed({"--cpus-per-rank", "2"}, "me", offers)) ==
        Words{"0.0:0-1", "0.1:3-4", "0.2:2,5"}
    );
    CHECK(lines_of(placed({"--map-by", "numa:pe=3"}, "me", offers)) == Words{"0.0:0-2", "0.1:3-5"});
    CHECK(
        refusal({"--map-by", "numa:pe=2", "-np", "4"}, "me", offers) ==
        "--cpus-per-rank 2: 2 ranks want 2 cpus each, but there are 3 cpus on numa 0 of host me; "
        "valid are fewer ranks, --bind-to none or --oversubscribe"
    );
}

TEST_CASE("placer: cpus held by other jobs are left out", "[launcher]") {
    HostOffer offer = offer_of(1, 4);
    offer.cpus = {2, 3};
    offer.busy_cpu_count = 2;
    CHECK(lines_of(placed({"-np", "2"}, "me", {offer})) == Words{"0.0:2", "0.1:3"});
    const Placement crowded = placed({"-np", "3"}, "me", {offer});
    CHECK(lines_of(crowded) == Words{"0.0:-", "0.1:-", "0.2:-"});
    CHECK(
        crowded.hosts[0].unbound_reason ==
        "3 ranks share 2 cpus of host me (2 cpus held by other jobs)"
    );
    CHECK(crowded.warnings.empty());
}

TEST_CASE("placer: a host that nobody asked can be mapped to by its slots alone", "[launcher]") {
    const Offers nobody(2);
    const Placement placement = placed({}, "w.1.example slots=2\nw.2.example slots=2\n", nobody);
    CHECK(lines_of(placement) == Words{"0.0:-", "0.1:-", "1.0:-", "1.1:-"});
    CHECK(placement.hosts[0].unbound_reason == "its cpus are not known without asking it");
    CHECK(placement.warnings.empty());
    CHECK(
        refusal({}, "w\n", {std::nullopt}) ==
        "host w: the number of its cpus is not known without asking it; valid is slots=N"
    );
    CHECK(
        refusal({"--map-by", "core"}, "w:2\n", {std::nullopt}) ==
        "--map-by: host w: its objects of the kind 'core' are not known"
    );
}

TEST_CASE("placer: no cpu has two ranks unless ranks may share", "[launcher]") {
    std::mt19937 random(5);
    const auto below = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    };
    const Words policies = {"slot", "host",       "numa",      "package",
                            "core", "ppr:2:numa", "slot:pe=2", "numa:pe=1"};
    const Words bindings = {"share", "core", "hwthread"};
    std::size_t success_count = 0;
    for (int round = 0; round < 1000; ++round) {
        Words words = {"--map-by", policies[below(8)], "--bind-to", bindings[below(3)]};
        if (below(2) == 0) words.insert(words.end(), {"-np", std::to_string(1 + below(12))});
        const bool may_share = below(3) == 0;
        if (may_share) words.emplace_back("--oversubscribe");
        std::string hostfile;
        Offers offers;
        for (std::uint32_t i = 0; i <= below(3); ++i) {
            hostfile += fmt::format("h{} slots={}\n", i, 1 + below(5));
            const std::uint32_t numa_count = 1 + below(2);
            offers.emplace_back(offer_of(numa_count, numa_count * (1 + below(4))));
        }
        const Options options = options_of(words);
        const auto placement = place_ranks(options, allocation_from(hostfile), offers);
        if (!placement) continue;
        ++success_count;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> owners;
        for (const PlacedRank& rank : placement->ranks) {
            CHECK((may_share || !rank.cpus.empty()));
            for (const std::uint32_t cpu : rank.cpus) ++owners[{rank.host_index, cpu}];
        }
        for (const auto& [cpu, count] : owners) CHECK((may_share || count == 1));
        CHECK(placement->job_map("j").size() == placement->size());
    }
    CHECK(success_count > 200);
}

}  // namespace dlrt::launcher
