// SPDX-License-Identifier: Apache-2.0
#include "collectives/selection.hpp"

#include <catch2/catch.hpp>

namespace dlrt::coll {

TEST_CASE("selection: finds an algorithm of the collective for every size", "[collectives]") {
    for (const Algorithm& algorithm : algorithms()) {
        for (std::int32_t size : {1, 2, 3, 8, 129, 100000}) {
            for (std::uint64_t bytes :
                 {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{1} << 40}) {
                CHECK(
                    choose_algorithm({algorithm.collective, size, bytes}).collective ==
                    algorithm.collective
                );
            }
        }
    }
}

TEST_CASE(
    "selection: an operation that needs the order of ranks never gets an algorithm without it",
    "[collectives]"
) {
    for (std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{1} << 30}) {
        const Algorithm& chosen = choose_algorithm(
            {Collective::allreduce, 6, bytes, OperandOrder::by_rank}
        );
        CHECK(chosen.operand_order == OperandOrder::by_rank);
    }
}

TEST_CASE("selection: long all-reduces travel a ring, short ones double", "[collectives]") {
    CHECK(choose_algorithm({Collective::allreduce, 4, 8}).name == "recursive_doubling");
    CHECK(choose_algorithm({Collective::allreduce, 4, 1 << 20}).name == "ring");
}

TEST_CASE(
    "selection: short vectors take few rounds, long ones send the fewest bytes", "[collectives]"
) {
    struct Choice {
        Collective collective;
        std::string_view of_short, of_long;
    };
    for (const Choice& choice :
         {Choice{Collective::reduce_scatter, "circulant", "ring"},
          Choice{Collective::alltoall, "bruck", "pairwise"},
          Choice{Collective::scan, "recursive_doubling", "linear"},
          Choice{Collective::exscan, "recursive_doubling", "linear"}}) {
        CHECK(choose_algorithm({choice.collective, 8, 64}).name == choice.of_short);
        CHECK(choose_algorithm({choice.collective, 8, 8 << 20}).name == choice.of_long);
    }
}

TEST_CASE(
    "selection: a reduce-scatter that needs the order of ranks is pairwise", "[collectives]"
) {
    for (std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{1} << 30}) {
        const Algorithm& chosen = choose_algorithm(
            {Collective::reduce_scatter, 6, bytes, OperandOrder::by_rank}
        );
        CHECK(chosen.name == "pairwise");
    }
}

}  // namespace dlrt::coll
