// SPDX-License-Identifier: Apache-2.0
/// What dlrt.h says of reductions that can't be: handles, and types that they are not defined for.
/// A job of one rank.
#include "tests/runtime/bad_arguments.hpp"

using namespace dlrt::testing;

TEST_CASE("api: reductions refuse what is bad, in words", "[api]") {
    const Joined joined;
    const auto nothing = [](const void*, void*, std::int64_t, dlrt_type, void*) {};
    dlrt_op_function* const function = nothing;
    dlrt_op made{};
    const Free user{static_cast<void*>(nullptr)};
    DLRT_REFUSE(dlrt_op_create, Needed{function}, user, Free{1}, Needed{&made});
    REQUIRE(dlrt_op_create(function, nullptr, 0, &made) == DLRT_OK);
    dlrt_op stale = made;
    DLRT_REFUSE(dlrt_op_free, Used<dlrt_op, DLRT_ERR_OP>{&made});
    CHECK(dlrt_op_free(&made) == DLRT_OK);
    CHECK(made.index == 0);
    CHECK(made.generation == 0);

    const auto words = [](dlrt_type type, dlrt_op op) {
        const auto* const from = data.data();
        CHECK(dlrt_allreduce(from, more_data.data(), 1, type, op, DLRT_COMM_WORLD) != DLRT_OK);
        return std::string(dlrt_last_error());
    };
    CHECK(words(DLRT_INT, stale) == "dlrt_allreduce: op is freed or was never an operation");
    CHECK(words(DLRT_INT, DLRT_OP_NULL) == "dlrt_allreduce: op is DLRT_OP_NULL");
    CHECK(
        words(DLRT_INT, DLRT_AVG) ==
        "dlrt_allreduce: op average is not defined for int32; use DLRT_SUM and divide"
    );
    CHECK(
        words(DLRT_DOUBLE, DLRT_MINLOC) ==
        "dlrt_allreduce: op minimum with location is not defined for double, only for pairs such "
        "as DLRT_DOUBLE_INT32"
    );
    CHECK(
        words(DLRT_DOUBLE_INT32, DLRT_SUM) ==
        "dlrt_allreduce: op sum is not defined for double with int32 index"
    );
    CHECK(dlrt_op_free(&stale) == DLRT_ERR_OP);
    dlrt_op sum = DLRT_SUM;
    CHECK(dlrt_op_free(&sum) == DLRT_ERR_OP);
    CHECK(std::string(dlrt_last_error()) == "dlrt_op_free: predefined operations can't be freed");
}
