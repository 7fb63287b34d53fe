// SPDX-License-Identifier: Apache-2.0
#include "collectives/print.hpp"

#include "collectives/algorithms.hpp"

#include <catch2/catch.hpp>

namespace dlrt::coll {

TEST_CASE("print: a ring all-reduce of two ranks in place", "[collectives]") {
    CHECK(
        print(allreduce_ring({2, 1, 0, Placement::in_place})) ==
        "allreduce ring, rank 1 of 2, in place: 2 chunks (split), 1 in scratch\n"
        "    0  recv    scratch[0] from 0\n"
        "    1  send    output[1] to 0\n"
        "    2  reduce  scratch[0] op output[0] to output[0]  after 0\n"
        "    3  recv    output[1] from 0  after 1\n"
        "    4  send    output[0] to 0  after 2\n"
    );
}

TEST_CASE("print: ranges, roots, windows and signals", "[collectives]") {
    CHECK(
        print(gather_binomial({4, 2, 0, Placement::separate})) ==
        "gather binomial, rank 2 of 4, root 0: 4 chunks (block), 2 in scratch\n"
        "    0  recv    scratch[1] from 3\n"
        "    1  copy    input[0] to scratch[0]\n"
        "    2  send    scratch[0..1] to 0  after 0 1\n"
    );
    CHECK(
        print(alltoall_pairwise({2, 1, 0, Placement::separate})) ==
        "alltoall pairwise, rank 1 of 2: 2 chunks (block), 0 in scratch, window 1\n"
        "    0  copy    input[1] to output[1]\n"
        "    1  recv    output[0] from 0\n"
        "    2  send    input[0] to 0\n"
    );
    CHECK(
        print(barrier_tree({2, 1, 0, Placement::separate})) ==
        "barrier tree, rank 1 of 2: 1 chunks (split), 0 in scratch\n"
        "    0  send    signal to 0\n"
        "    1  recv    signal from 0\n"
    );
}

}  // namespace dlrt::coll
