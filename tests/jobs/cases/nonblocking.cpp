// SPDX-License-Identifier: Apache-2.0
/// Case C09 (a) to (d): nonblocking collectives among other open requests, in place, many at once,
/// and rarely looked at; any number of ranks.
#include "tests/jobs/api/job.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>

using namespace job;

namespace {

void barrier_beside_a_receive(const World& world) {
    int incoming = -1;
    dlrt_request requests[2] = {};
    expect_ok(dlrt_irecv(&incoming, 1, DLRT_INT, DLRT_ANY_SOURCE, 5, DLRT_COMM_WORLD, &requests[0])
    );
    // The case's own delay: the others wait in the barrier meanwhile.
    if (world.rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    expect_ok(dlrt_send(&world.rank, 1, DLRT_INT, world.next, 5, DLRT_COMM_WORLD));
    expect_ok(dlrt_ibarrier(DLRT_COMM_WORLD, &requests[1]));
    int is_complete[2] = {};
    while (is_complete[0] == 0 || is_complete[1] == 0) {
        for (int i = 0; i < 2; ++i) {
            if (is_complete[i] == 0) expect_ok(dlrt_test(&requests[i], &is_complete[i], nullptr));
        }
    }
    expect_equal(incoming, world.previous);
}

void in_place(const World& world) {
    const double reciprocal = world.rank == 0 ? 0.0 : 1.0 / world.rank;
    double values[2] = {static_cast<double>(world.rank), reciprocal};
    dlrt_request request{};
    expect_ok(
        dlrt_iallreduce(DLRT_IN_PLACE, values, 2, DLRT_DOUBLE, DLRT_SUM, DLRT_COMM_WORLD, &request)
    );
    expect_ok(dlrt_wait(&request, nullptr));
    double sum = 0, reciprocals = 0;
    for (int rank = 1; rank < world.size; ++rank) {
        sum += rank;
        reciprocals += 1.0 / rank;
    }
    expect(values[0] == sum && std::fabs(values[1] - reciprocals) < 1e-12, "sums in place");
}

/// 1 to 100 000 elements each.
struct Many {
    static constexpr int count = 100;
    std::vector<std::vector<std::int32_t>> vectors;
    dlrt_request requests[count] = {};

    static std::size_t length(int i) { return i == count - 1 ? 100'000 : 1 + 900 * std::size_t(i); }
    explicit Many(const World& world) {
        for (int i = 0; i < count; ++i) {
            vectors.emplace_back(length(i), world.rank + i);
            expect_ok(dlrt_iallreduce(
                DLRT_IN_PLACE, vectors.back().data(), static_cast<std::int64_t>(length(i)),
                DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD, &requests[i]
            ));
        }
    }
    void check(const World& world) const {
        for (int i = 0; i < count; ++i) {
            const std::int32_t sum = world.size * (world.size - 1) / 2 + world.size * i;
            for (const std::int32_t value : vectors[static_cast<std::size_t>(i)])
                expect_equal(value, sum);
        }
    }
};

void many_in_reverse_order(const World& world) {
    Many many(world);
    for (int i = Many::count; i-- > 0;) expect_ok(dlrt_wait(&many.requests[i], nullptr));
    many.check(world);
}

void many_rarely_tested(const World& world) {
    Many many(world);
    int is_complete = 0;
    while (is_complete == 0) {
        expect_ok(dlrt_testall(Many::count, many.requests, &is_complete, nullptr));
        if (is_complete == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    many.check(world);
}

/// Case D04.
void barrier_on_a_freed_communicator() {
    dlrt_comm duplicate{};
    dlrt_request request{};
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &duplicate));
    expect_ok(dlrt_ibarrier(duplicate, &request));
    expect_ok(dlrt_comm_free(&duplicate));
    expect_ok(dlrt_wait(&request, nullptr));
}

}  // namespace

int main() {
    {
        const World world;
        barrier_beside_a_receive(world);
        in_place(world);
        many_in_reverse_order(world);
        many_rarely_tested(world);
        barrier_on_a_freed_communicator();
    }
    for (const char* algorithm :
         {"recursive_doubling", "ring", "rabenseifner", "tree", "centralised", "circulant",
          "two_tree"}) {
        // Read by the init that follows.
        ::setenv("DLRT_ALGO", (std::string("allreduce:") + algorithm).c_str(), 1);
        const World world;
        in_place(world);
    }
}
