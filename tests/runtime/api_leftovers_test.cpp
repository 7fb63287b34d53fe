// SPDX-License-Identifier: Apache-2.0
#include "dlrt.h"

#include "runtime/api/handle_report.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

namespace {

std::vector<std::string> leave_things() {
    REQUIRE(dlrt_init() == DLRT_OK);
    dlrt_comm comm{};
    dlrt_group group{};
    dlrt_type type{};
    dlrt_op op{};
    dlrt_request request{};
    const auto nothing = [](const void*, void*, std::int64_t, dlrt_type, void*) {};
    REQUIRE(dlrt_op_create(nothing, nullptr, 1, &op) == DLRT_OK);
    static int value = 0;
    REQUIRE(dlrt_comm_dup(DLRT_COMM_WORLD, &comm) == DLRT_OK);
    REQUIRE(dlrt_comm_group(comm, &group) == DLRT_OK);
    for (int i = 0; i < 12; ++i) REQUIRE(dlrt_type_contiguous(3, DLRT_INT, &type) == DLRT_OK);
    REQUIRE(dlrt_recv_init(&value, 1, DLRT_INT, 0, 1, comm, &request) == DLRT_OK);
    void* memory = nullptr;
    for (int i = 0; i < 2; ++i) REQUIRE(dlrt_alloc(5000, &memory) == DLRT_OK);
    const std::vector<std::string> lines = dlrt::api::describe_leftovers(dlrt::api::Surface::get());
    REQUIRE(dlrt_finalize() == DLRT_OK);
    return lines;
}

}  // namespace

TEST_CASE("leftovers: named with DLRT_CHECK=1, at most ten of a kind", "[api]") {
    ::setenv("DLRT_CHECK", "1", 1);
    const std::vector<std::string> lines = leave_things();
    REQUIRE(lines.size() == 16);
    CHECK(lines[0].starts_with("dlrt: rank 0: not freed: communicator of 1 ranks (context "));
    CHECK(lines[1] == "dlrt: rank 0: not freed: group of 1 ranks\n");
    CHECK(lines[2] == "dlrt: rank 0: not freed: type of 12 bytes\n");
    CHECK(lines[12] == "dlrt: rank 0: … and 2 more of this kind\n");
    CHECK(lines[13] == "dlrt: rank 0: not freed: commutative reduction\n");
    CHECK(lines[14] == "dlrt: rank 0: not freed: inactive receive request\n");
    CHECK(lines[15] == "dlrt: rank 0: not freed: 2 blocks of dlrt_alloc, 16384 bytes together\n");
}

TEST_CASE("leftovers: nothing is said without DLRT_CHECK", "[api]") {
    ::unsetenv("DLRT_CHECK");
    CHECK(leave_things().empty());
}
