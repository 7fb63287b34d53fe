// SPDX-License-Identifier: Apache-2.0
#include "launcher/placement.hpp"

#include <numeric>

#include <catch2/catch.hpp>

namespace dlrt::launcher {

using Cpus = std::vector<std::uint32_t>;

TEST_CASE("placement: shares are even, contiguous and disjoint for every count", "[launcher]") {
    for (std::uint32_t cpu_count = 1; cpu_count <= 20; ++cpu_count) {
        Cpus cpus(cpu_count);
        std::iota(cpus.begin(), cpus.end(), 100u);
        for (std::uint32_t rank_count = 1; rank_count <= cpu_count; ++rank_count) {
            Cpus together;
            for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
                const Cpus share = even_share(cpus, rank, rank_count);
                CHECK(share.size() >= cpu_count / rank_count);
                CHECK(share.size() <= (cpu_count + rank_count - 1) / rank_count);
                together.insert(together.end(), share.begin(), share.end());
            }
            CHECK(together == cpus);
        }
    }
}

TEST_CASE("placement: nobody is bound where ranks outnumber cpus", "[launcher]") {
    const Cpus cpus = {0, 1};
    CHECK(even_share(cpus, 2, 3).empty());
    CHECK(even_share({}, 0, 1).empty());
}

TEST_CASE("placement: blocks fill hosts in order", "[launcher]") {
    const HostOffer hosts[] = {{"h1", {0, 1}, 2, 2}, {"h2", {4}, 1, 0}, {"h3", {}, 8, 3}};
    const std::uint32_t blocks[] = {1, 0, 4};
    const JobMap map = place_ranks("j", hosts, blocks);
    CHECK(map.job_id == "j");
    CHECK(map.hosts == std::vector<HostEntry>{{"h1", 2}, {"h2", 1}, {"h3", 8}});
    CHECK(
        map.ranks ==
        std::vector<RankEntry>{
            {0, 0, 0, {0}}, {0, 1, 2, {1}}, {2, 0, 2, {}}, {2, 1, 2, {}}, {2, 2, 2, {}}}
    );
}

}  // namespace dlrt::launcher
