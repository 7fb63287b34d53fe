// SPDX-License-Identifier: Apache-2.0
#include "launcher/mapping.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Kind = MappingChoice::Kind;
/// Host and slot by rank.
using Places = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using Numbers = std::vector<std::uint32_t>;

/// Three hosts of 3, 1 and 2 slots; objects: two, one and two of them.
std::vector<MappableHost> three_hosts() {
    return {{"h0", 3, true, {}, {0, 1}}, {"h1", 1, true, {}, {0}}, {"h2", 2, true, {}, {1, 3}}};
}

MappingRequest request_of(Kind kind, std::optional<std::uint32_t> rank_count = {}) {
    MappingRequest request;
    request.choice.kind = kind;
    request.rank_count = rank_count;
    return request;
}

std::vector<MappedRank> mapped(
    const MappingRequest& request, const std::vector<MappableHost>& hosts = three_hosts()
) {
    Result<std::vector<MappedRank>> ranks = map_ranks(request, hosts);
    INFO(last_error_text());
    REQUIRE(ranks.has_value());
    return std::move(*ranks);
}

Places places_of(
    const MappingRequest& request, const std::vector<MappableHost>& hosts = three_hosts()
) {
    Places places;
    for (const MappedRank& rank : mapped(request, hosts)) {
        places.emplace_back(rank.host_index, rank.slot);
    }
    return places;
}

Numbers objects_of(const MappingRequest& request) {
    Numbers objects;
    for (const MappedRank& rank : mapped(request)) objects.push_back(rank.object.value());
    return objects;
}

std::string refusal(
    const MappingRequest& request, const std::vector<MappableHost>& hosts = three_hosts()
) {
    REQUIRE(!map_ranks(request, hosts));
    return last_error_text();
}

}  // namespace

TEST_CASE("mapping: by slot fills one host after the other", "[launcher]") {
    const Places all = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {2, 1}};
    CHECK(places_of(request_of(Kind::slot)) == all);
    CHECK(places_of(request_of(Kind::slot, 4)) == Places(all.begin(), all.begin() + 4));
}

TEST_CASE("mapping: by host goes round and passes over full hosts", "[launcher]") {
    const Places all = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}};
    CHECK(places_of(request_of(Kind::host)) == all);
    CHECK(places_of(request_of(Kind::host, 4)) == Places(all.begin(), all.begin() + 4));
}

TEST_CASE("mapping: ranking numbers the ranks another way, on the same places", "[launcher]") {
    MappingRequest request = request_of(Kind::host, 5);
    request.ranking = Ranking::by_slot;
    CHECK(places_of(request) == Places{{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}});
    request = request_of(Kind::slot);
    request.ranking = Ranking::by_host;
    CHECK(places_of(request) == Places{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}});
    request.ranking = Ranking::by_slot;
    CHECK(places_of(request) == places_of(request_of(Kind::slot)));
}

TEST_CASE("mapping: by object goes round a host's usable objects", "[launcher]") {
    MappingRequest request = request_of(Kind::object);
    request.choice.level = TopologyLevel::numa;
    CHECK(places_of(request) == places_of(request_of(Kind::slot)));
    CHECK(objects_of(request) == Numbers{0, 1, 0, 0, 1, 3});
}

TEST_CASE("mapping: ppr puts a number on each object", "[launcher]") {
    MappingRequest request = request_of(Kind::ppr);
    request.choice.level = TopologyLevel::package;
    request.choice.per_object = 1;
    CHECK(places_of(request) == Places{{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}});
    CHECK(objects_of(request) == Numbers{0, 1, 0, 1, 3});
    request.choice.per_object = 2;
    request.oversubscription = Oversubscription::allowed;
    CHECK(
        places_of(request) ==
        Places{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {2, 2}, {2, 3}}
    );
    CHECK(objects_of(request) == Numbers{0, 0, 1, 1, 0, 0, 1, 1, 3, 3});
    request.rank_count = 3;
    CHECK(objects_of(request) == Numbers{0, 0, 1});
    request.rank_count = 11;
    CHECK(refusal(request) == "-np 11: --map-by ppr makes only 10 ranks on 3 hosts");
}

TEST_CASE("mapping: a number per host is a limit on each host", "[launcher]") {
    MappingRequest request = request_of(Kind::slot);
    request.ranks_per_host = 1;
    CHECK(places_of(request) == Places{{0, 0}, {1, 0}, {2, 0}});
    request.rank_count = 2;
    CHECK(places_of(request) == Places{{0, 0}, {1, 0}});
    request.rank_count = 4;
    CHECK(refusal(request) == "-np 4: --ppn makes only 3 ranks on 3 hosts");
    request.rank_count = {};
    request.ranks_per_host = 2;
    request.oversubscription = Oversubscription::allowed;
    CHECK(places_of(request) == Places{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}});
    request.choice.kind = Kind::host;
    CHECK(places_of(request) == Places{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}});
    request = request_of(Kind::ppr);
    request.choice.per_object = 1;
    CHECK(places_of(request) == Places{{0, 0}, {1, 0}, {2, 0}});
}

TEST_CASE("mapping: sequential puts rank i where line i says", "[launcher]") {
    MappingRequest request = request_of(Kind::sequential);
    request.mentions = {2, 0, 2, 1, 0};
    CHECK(places_of(request) == Places{{2, 0}, {0, 0}, {2, 1}, {1, 0}, {0, 1}});
    request.rank_count = 2;
    CHECK(places_of(request) == Places{{2, 0}, {0, 0}});
    request.rank_count = 6;
    CHECK(refusal(request) == "-np 6: --map-by seq makes only 5 ranks on 3 hosts");
    request.mentions.clear();
    CHECK(refusal(request) == "--map-by seq: needs the hosts; valid are --host, --hostfile");
}

TEST_CASE("mapping: beyond explicit slots is refused with a table", "[launcher]") {
    CHECK(
        refusal(request_of(Kind::slot, 7)) ==
        "7 ranks are wanted, but only 6 slots are there; --oversubscribe starts them all the same\n"
        "  host  slots  max_slots  ranks\n"
        "  h0        3          -      4\n"
        "  h1        1          -      1\n"
        "  h2        2          -      2"
    );
    CHECK(
        refusal(request_of(Kind::host, 3), {{"localhost", 2, true, {}, {}}}) ==
        "3 ranks are wanted, but only 2 slots are there; --oversubscribe starts them all the same\n"
        "  host       slots  max_slots  ranks\n"
        "  localhost      2          -      3"
    );
    MappingRequest request = request_of(Kind::slot);
    request.ranks_per_host = 2;
    CHECK(refusal(request).starts_with("2 ranks are wanted on host h1, but only 1 slot is there; ")
    );
    const std::vector<MappableHost> many(100, {"h", 1, true, {}, {}});
    CHECK(refusal(request_of(Kind::slot, 101), many).ends_with("\n  and 84 more hosts"));
}

TEST_CASE("mapping: one host without explicit slots takes any number", "[launcher]") {
    const std::vector<MappableHost> here = {{"h", 2, false, {}, {}}};
    CHECK(places_of(request_of(Kind::slot, 3), here) == Places{{0, 0}, {0, 1}, {0, 2}});
    CHECK(places_of(request_of(Kind::slot), here).size() == 2);
    MappingRequest request = request_of(Kind::slot, 3);
    request.oversubscription = Oversubscription::refused;
    CHECK(
        refusal(request, here) ==
        "3 ranks are wanted, but only 2 slots are there, and --no-oversubscribe is given\n"
        "  host  slots  max_slots  ranks\n"
        "  h         2          -      3"
    );
    const std::vector<MappableHost> two = {{"h", 2, false, {}, {}}, {"g", 2, false, {}, {}}};
    CHECK(refusal(request_of(Kind::slot, 5), two).starts_with("5 ranks are wanted"));
}

TEST_CASE("mapping: beyond the slots the list begins again", "[launcher]") {
    MappingRequest request = request_of(Kind::slot, 8);
    request.oversubscription = Oversubscription::allowed;
    CHECK(
        places_of(request) == Places{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {2, 0}, {2, 1}}
    );
    request.choice.kind = Kind::host;
    CHECK(
        places_of(request) == Places{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}, {0, 3}, {1, 1}}
    );
}

TEST_CASE("mapping: the limit of slots holds even where oversubscribing is allowed", "[launcher]") {
    std::vector<MappableHost> hosts = three_hosts();
    hosts[0].max_slots = 3;
    hosts[1].max_slots = 2;
    MappingRequest request = request_of(Kind::slot, 10);
    request.oversubscription = Oversubscription::allowed;
    const Places places = places_of(request, hosts);
    CHECK(std::ranges::count(places, 0u, [](const auto& place) { return place.first; }) == 3);
    CHECK(std::ranges::count(places, 1u, [](const auto& place) { return place.first; }) == 2);
    CHECK(std::ranges::count(places, 2u, [](const auto& place) { return place.first; }) == 5);
    hosts[2].max_slots = 4;
    CHECK(
        refusal(request, hosts) ==
        "10 ranks are wanted, but only 9 slots are within max_slots\n"
        "  host  slots  max_slots\n"
        "  h0        3          3\n"
        "  h1        1          2\n"
        "  h2        2          4"
    );
    request = request_of(Kind::slot);
    request.ranks_per_host = 3;
    request.oversubscription = Oversubscription::allowed;
    CHECK(refusal(request, hosts).starts_with("3 ranks are wanted on host h1, but only 2 slots "));
}

TEST_CASE("mapping: what contradicts itself is refused", "[launcher]") {
    MappingRequest request = request_of(Kind::sequential);
    request.mentions = {0};
    request.ranking = Ranking::by_host;
    CHECK(refusal(request) == "--rank-by: does not go with --map-by seq, which is an order itself");
    request.ranking = {};
    request.ranks_per_host = 1;
    CHECK(refusal(request) == "--ppn: does not go with --map-by seq, which counts lines");
    request = request_of(Kind::ppr);
    request.choice.per_object = 2;
    request.ranks_per_host = 1;
    CHECK(refusal(request) == "--ppn 1: --map-by ppr says 2 for each host");
    request.choice.level = TopologyLevel::numa;
    CHECK(refusal(request) == "--ppn: does not go with --map-by ppr:2:numa; valid is one of them");
}

TEST_CASE("mapping: sizes that no host or job can have are refused at once", "[launcher]") {
    CHECK(
        refusal(request_of(Kind::slot), {{"h", 65'535, true, {}, {}}}) ==
        "host h: 65535 ranks are too many for one host; valid are 1 to 1024"
    );
    const std::vector<MappableHost> huge(65'536, {"h", 65'535, true, {}, {}});
    CHECK(
        refusal(request_of(Kind::slot), huge) ==
        "4294901760 ranks are too many; valid are 1 to 1048576"
    );
    MappingRequest request = request_of(Kind::ppr, 1);
    request.choice.per_object = UINT32_MAX;
    CHECK(places_of(request, {{"h", 1, true, {}, {}}}) == Places{{0, 0}});
}

TEST_CASE("mapping: every rank has one place, and no limit is passed", "[launcher]") {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    };
    std::size_t success_count = 0;
    for (int round = 0; round < 3000; ++round) {
        std::vector<MappableHost> hosts(1 + below(5));
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            hosts[i].name = "h" + std::to_string(i);
            hosts[i].slots = 1 + below(6);
            hosts[i].has_explicit_slots = below(2) == 0;
            if (below(3) == 0) hosts[i].max_slots = hosts[i].slots + below(4);
            for (std::uint32_t k = 0; k <= below(4); ++k) hosts[i].objects.push_back(k);
        }
        MappingRequest request;
        request.choice.kind = static_cast<Kind>(below(5));
        request.choice.per_object = 1 + below(3);
        if (request.choice.kind == Kind::object || below(2) == 0) {
            request.choice.level = TopologyLevel::numa;
        }
        if (below(2) == 0) request.rank_count = 1 + below(20);
        if (below(4) == 0) request.ranks_per_host = 1 + below(4);
        if (below(3) == 0) request.ranking = static_cast<Ranking>(below(2));
        request.oversubscription = static_cast<Oversubscription>(below(3));
        for (std::uint32_t k = below(8); k > 0; --k) {
            request.mentions.push_back(below(static_cast<std::uint32_t>(hosts.size())));
        }
        const auto ranks = map_ranks(request, hosts);
        if (!ranks) continue;
        ++success_count;
        if (request.rank_count) CHECK(ranks->size() == *request.rank_count);
        std::set<std::pair<std::uint32_t, std::uint32_t>> places;
        std::vector<std::uint32_t> counts(hosts.size(), 0);
        for (const MappedRank& rank : *ranks) {
            places.emplace(rank.host_index, rank.slot);
            ++counts[rank.host_index];
        }
        CHECK(places.size() == ranks->size());
        for (std::uint32_t i = 0; i < hosts.size(); ++i) {
            CHECK(counts[i] <= hosts[i].max_slots.value_or(UINT32_MAX));
            // Without gaps: the last slot is the number of ranks less one.
            CHECK((counts[i] == 0 || places.contains({i, counts[i] - 1})));
            const bool may_pass = request.oversubscription == Oversubscription::allowed ||
                                  (request.oversubscription == Oversubscription::by_rule &&
                                   hosts.size() == 1 && !hosts[0].has_explicit_slots);
            if (!may_pass) CHECK(counts[i] <= hosts[i].slots);
            if (request.ranks_per_host) CHECK(counts[i] <= *request.ranks_per_host);
        }
    }
    CHECK(success_count > 500);
}

}  // namespace dlrt::launcher
