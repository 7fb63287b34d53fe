// SPDX-License-Identifier: Apache-2.0
/// Case D07: a communicator between ranks 0, 1 and ranks 2, 3, 4, made and merged many times, with
/// collectives of all forms. np 5; the argument is the number of rounds.
#include "tests/jobs/api/job.hpp"

#include <cstdlib>

using namespace job;

namespace {

using Numbers = std::vector<std::int32_t>;

void complete(dlrt_request& request) {
    expect_ok(dlrt_wait(&request, nullptr));
}

void use(const World& world, dlrt_comm inter, bool is_low) {
    dlrt_request request{};
    expect_ok(dlrt_barrier(inter));
    expect_ok(dlrt_ibarrier(inter, &request));
    complete(request);
    const Numbers others = is_low ? Numbers{2, 3, 4} : Numbers{0, 1};
    Numbers heard(others.size(), -1);
    expect_ok(dlrt_iallgather(&world.rank, 1, DLRT_INT32, heard.data(), inter, &request));
    complete(request);
    expect(heard == others, "iallgather");
    std::int32_t sum = -1;
    expect_ok(dlrt_allreduce(&world.rank, &sum, 1, DLRT_INT32, DLRT_SUM, inter));
    expect_equal(sum, is_low ? 9 : 1);

    // Rank 0 of each group tells the others' rank 1.
    std::int32_t rank = -1, got = -1;
    expect_ok(dlrt_comm_rank(inter, &rank));
    if (rank == 0) expect_ok(dlrt_send(&world.rank, 1, DLRT_INT32, 1, 3, inter));
    if (rank == 1) {
        dlrt_status status{};
        expect_ok(dlrt_probe(DLRT_ANY_SOURCE, 3, inter, &status));
        expect_equal(status.source, 0);
        expect_ok(dlrt_recv(&got, 1, DLRT_INT32, status.source, 3, inter, &status));
        expect_equal(got, is_low ? 2 : 0);
    }
}

void merge(const World& world, dlrt_comm inter, bool is_low) {
    dlrt_comm merged{};
    expect_ok(dlrt_intercomm_merge(inter, is_low ? 0 : 1, &merged));
    Numbers order(5, -1);
    expect_ok(dlrt_allgather(&world.rank, 1, DLRT_INT32, order.data(), merged));
    expect(order == Numbers({0, 1, 2, 3, 4}), "the merged order");
    expect_ok(dlrt_comm_free(&merged));
}

}  // namespace

int main(int argc, char** argv) {
    const World world;
    expect(world.size == 5 && argc == 2, "five ranks, and a number of rounds");
    const bool is_low = world.rank < 2;
    for (int round = 0; round < std::atoi(argv[1]); ++round) {
        dlrt_comm local{}, inter{};
        expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, is_low ? 0 : 1, 0, &local));
        expect_ok(dlrt_intercomm_create(local, 0, DLRT_COMM_WORLD, is_low ? 2 : 0, 7, &inter));
        use(world, inter, is_low);
        merge(world, inter, is_low);
        expect_ok(dlrt_comm_free(&inter));
        expect_ok(dlrt_comm_free(&local));
    }
    return 0;
}
