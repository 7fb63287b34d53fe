// SPDX-License-Identifier: Apache-2.0
#include "launcher/cpu_lender.hpp"

#include "launcher/cpu_claim.hpp"

#include <optional>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Cores = std::vector<std::vector<std::uint32_t>>;

const Cores single = {{0}, {1}, {2}, {3}, {4}, {5}};
const Cores paired = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};

}  // namespace

TEST_CASE("cpu lender: the largest share gives, the last of equals first", "[launcher]") {
    CHECK(shrink_shares({{0, 1}, {2, 3, 4}}, single, 1) == CpuShares{{0, 1}, {2, 3}});
    CHECK(shrink_shares({{0, 1}, {2, 3}}, single, 1) == CpuShares{{0, 1}, {2}});
    CHECK(shrink_shares({{0, 1}, {2, 3, 4}}, single, 3) == CpuShares{{0}, {2}});
}

TEST_CASE("cpu lender: nobody gives its last cpu", "[launcher]") {
    CHECK(shrink_shares({{0}, {1}}, single, 1) == CpuShares{{0}, {1}});
    CHECK(shrink_shares({{0, 1}}, single, 9) == CpuShares{{0}});
    CHECK(shrink_shares({}, single, 1).empty());
}

TEST_CASE("cpu lender: cores are given as a whole", "[launcher]") {
    CHECK(shrink_shares({{0, 1, 4, 5}}, paired, 1) == CpuShares{{0, 4}});
    CHECK(shrink_shares({{0, 4}, {1, 5}}, paired, 1) == CpuShares{{0, 4}, {1, 5}});
    CHECK(shrink_shares({{0, 1, 2, 4, 5, 6}}, paired, 2) == CpuShares{{0, 1, 4, 5}});
}

TEST_CASE("cpu claim: what one holds is busy for the other until it goes", "[launcher]") {
    const std::string prefix = fmt::format("dlrt-test-{}", ::getpid());
    const std::vector<std::uint32_t> own = affinity_of(0);
    std::optional<CpuClaim> first = CpuClaim::begin(prefix, CpuClaim::Wait::never);
    REQUIRE(first->has_gate());
    CHECK(first->busy_cpus().empty());
    CHECK(!CpuClaim::begin(prefix, CpuClaim::Wait::never).has_gate());
    first->settle(std::vector<std::uint32_t>{own[0]});
    {
        const CpuClaim second = CpuClaim::begin(prefix, CpuClaim::Wait::while_others_choose);
        CHECK(second.has_gate());
        CHECK(second.busy_cpus() == std::vector<std::uint32_t>{own[0]});
        CHECK(second.busy_cpus_without(::getpid()).empty());
    }
    first->leave_cpus();
    CHECK(affinity_of(0) == own);
    first.reset();
    CHECK(CpuClaim::begin(prefix, CpuClaim::Wait::never).busy_cpus().empty());
}

TEST_CASE("cpu claim: who holds nothing is not seen", "[launcher]") {
    const std::string prefix = fmt::format("dlrt-test-{}", ::getpid());
    CpuClaim first = CpuClaim::begin(prefix, CpuClaim::Wait::never);
    first.settle({});
    CHECK(first.listener() == -1);
    CHECK(CpuClaim::begin(prefix, CpuClaim::Wait::never).busy_cpus().empty());
}

}  // namespace dlrt::launcher
