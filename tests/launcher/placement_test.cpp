// SPDX-License-Identifier: Apache-2.0
#include "launcher/placement.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {

TEST_CASE("placement: the job map says the same in fewer words", "[launcher]") {
    Placement placement;
    placement.hosts.resize(2);
    placement.hosts[0].name = "h1";
    placement.hosts[0].usable_cpu_count = 2;
    placement.hosts[1].name = "h2";
    placement.hosts[1].usable_cpu_count = 8;
    placement.ranks = {{0, 0, 0, 0, {}, {1}}, {1, 0, 1, 0, MappedObject{}, {}}};
    const JobMap map = placement.job_map("j");
    CHECK(map.job_id == "j");
    CHECK(map.hosts == std::vector<HostEntry>{{"h1", 2}, {"h2", 8}});
    CHECK(map.ranks == std::vector<RankEntry>{{0, 0, 0, {1}}, {1, 0, 1, {}}});
}

}  // namespace dlrt::launcher
