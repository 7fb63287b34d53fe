// SPDX-License-Identifier: Apache-2.0
/// Tenants counted by hand, and the size of the shm area that two modules state.
#include "runtime/tenancy.hpp"

#include "transports/shm/shm.hpp"

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {

TEST_CASE("tenancy: unbound ranks all share the host's cpus", "[runtime]") {
    const auto table = std::make_unique<TenancyTable>();
    table->unbound_ranks.store(8);
    const std::vector<std::uint32_t> cpus = {0, 1, 2, 3};
    const Tenancy all = find_tenancy(*table, 4, cpus, false);
    CHECK(all.usable_cpu_count == 4);
    CHECK(all.ranks_on_cpus == 8);
    // A quota of two cpus' worth of time on four.
    CHECK(find_tenancy(*table, 2, cpus, false).usable_cpu_count == 2);
}

TEST_CASE("tenancy: bound ranks count where they are bound", "[runtime]") {
    const auto table = std::make_unique<TenancyTable>();
    for (const int cpu : {0, 1, 2, 3}) table->tenants[cpu].store(1);
    const std::vector<std::uint32_t> pair = {2, 3};
    CHECK(find_tenancy(*table, 4, pair, true).ranks_on_cpus == 1);
    CHECK(find_tenancy(*table, 4, pair, true).usable_cpu_count == 2);
    table->tenants[3].store(3);
    CHECK(find_tenancy(*table, 4, pair, true).ranks_on_cpus == 3);
    // Two floating ranks on four cpus: one of them on this half.
    table->unbound_ranks.store(2);
    CHECK(find_tenancy(*table, 4, pair, true).ranks_on_cpus == 4);
}

TEST_CASE("tenancy: an empty table still has this rank", "[runtime]") {
    const auto table = std::make_unique<TenancyTable>();
    const Tenancy tenancy = find_tenancy(*table, 0, {}, false);
    CHECK(tenancy.usable_cpu_count == 1);
    CHECK(tenancy.ranks_on_cpus == 1);
}

TEST_CASE("segment: the transport area is as large as shm wants it", "[runtime]") {
    for (std::uint32_t local_size = 1; local_size <= local_rank_count_max; ++local_size) {
        REQUIRE(transport_area_size_bytes(local_size) == shm::area_size_bytes(local_size));
    }
}

}  // namespace dlrt
