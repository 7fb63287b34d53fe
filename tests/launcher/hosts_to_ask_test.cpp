// SPDX-License-Identifier: Apache-2.0
#include "launcher/hosts_to_ask.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;

AllocatedHost host(std::string name, std::optional<std::uint32_t> slots, bool is_own = false) {
    AllocatedHost made;
    made.name = std::move(name);
    made.slots = slots;
    made.is_own = is_own;
    return made;
}

std::vector<bool> asked(Words words, std::vector<AllocatedHost> hosts) {
    words.emplace_back("a");
    const Result<Options> options = parse_options(words);
    REQUIRE(options.has_value());
    Allocation allocation;
    allocation.hosts = std::move(hosts);
    return hosts_to_ask(*options, allocation);
}

}  // namespace

TEST_CASE("hosts to ask: none beyond those whose slots are enough", "[launcher]") {
    const std::vector<AllocatedHost> hosts = {host("a", 4), host("b", 4), host("c", 4)};
    CHECK(asked({"-np", "4"}, hosts) == std::vector<bool>{true, false, false});
    CHECK(asked({"-np", "5"}, hosts) == std::vector<bool>{true, true, false});
    CHECK(asked({}, hosts) == std::vector<bool>{true, true, true});
    CHECK(asked({"-np", "2", "--map-by", "host"}, hosts) == std::vector<bool>{true, true, true});
    CHECK(asked({"-np", "2", "--ppn", "1"}, hosts) == std::vector<bool>{true, true, true});
}

TEST_CASE("hosts to ask: one without a count may have none too many", "[launcher]") {
    CHECK(
        asked({"-np", "2"}, {host("a", {}), host("b", 2), host("c", 2)}) ==
        std::vector<bool>{true, true, false}
    );
}

TEST_CASE("hosts to ask: a dry run looks at this host alone", "[launcher]") {
    CHECK(
        asked({"--dry-run"}, {host("a", 1), host("b", 1, true)}) == std::vector<bool>{false, true}
    );
}

}  // namespace dlrt::launcher
