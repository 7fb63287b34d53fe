// SPDX-License-Identifier: Apache-2.0
/// Case F06: looking at a request that is complete takes less than 500 ns, ten times the case's
/// limit, with locks on and another receive open; np 2.
#include "tests/jobs/api/job.hpp"

#include <algorithm>
#include <chrono>

using namespace job;

namespace {

template<typename Look>
double best_ns(Look look) {
    using clock = std::chrono::steady_clock;
    constexpr int round_count = 50, look_count = 20'000;
    double best = 1e9;
    for (int round = 0; round < round_count; ++round) {
        const auto begin = clock::now();
        for (int i = 0; i < look_count; ++i) look();
        const std::chrono::duration<double, std::nano> taken = clock::now() - begin;
        best = std::min(best, taken.count() / look_count);
    }
    return best;
}

template<typename Look>
void expect_quick(const char* what, Look look) {
#if defined(__SANITIZE_ADDRESS__)
    constexpr double limit_ns = 5000;
#else
    constexpr double limit_ns = 500;
#endif
    const double took_ns = best_ns(look);
    if (took_ns < limit_ns) return;
    std::fprintf(stderr, "%s takes %g ns, not less than %g\n", what, took_ns, limit_ns);
    expect(false, "quick");
}

}  // namespace

int main() {
    const World world(DLRT_THREAD_MULTIPLE);
    expect_equal(world.size, 2);
    int incoming = -1, is_complete = 0;
    dlrt_request received{}, persistent{}, open{};
    expect_ok(dlrt_irecv(&incoming, 1, DLRT_INT, world.previous, 1, DLRT_COMM_WORLD, &received));
    expect_ok(dlrt_send(&world.rank, 1, DLRT_INT, world.next, 1, DLRT_COMM_WORLD));
    while (is_complete == 0) expect_ok(dlrt_request_status(received, &is_complete, nullptr));

    // Something else stays open, which progress would have to look after.
    int later = -1;
    expect_ok(dlrt_irecv(&later, 1, DLRT_INT, world.previous, 2, DLRT_COMM_WORLD, &open));
    expect_quick("the status of a complete receive", [&] {
        expect_ok(dlrt_request_status(received, &is_complete, nullptr));
        expect(is_complete == 1, "it stays complete");
    });
    expect_ok(dlrt_wait(&received, nullptr));
    expect_equal(incoming, world.previous);

    expect_ok(
        dlrt_recv_init(&incoming, 1, DLRT_INT, world.previous, 3, DLRT_COMM_WORLD, &persistent)
    );
    dlrt_request none = DLRT_REQUEST_NULL;
    for (dlrt_request* request : {&persistent, &none}) {
        expect_quick("the test of an inactive request", [&] {
            expect_ok(dlrt_test(request, &is_complete, nullptr));
            expect(is_complete == 1, "inactive counts as complete");
        });
    }
    // Completed at once: what making, testing and freeing a request costs together.
    expect_quick("a receive from nobody with its test", [&] {
        dlrt_request nobody{};
        expect_ok(dlrt_irecv(&incoming, 1, DLRT_INT, DLRT_PROC_NULL, 1, DLRT_COMM_WORLD, &nobody));
        expect_ok(dlrt_test(&nobody, &is_complete, nullptr));
        expect(is_complete == 1, "complete at once");
    });
    expect_ok(dlrt_request_free(&persistent));
    expect_ok(dlrt_send(&world.rank, 1, DLRT_INT, world.next, 2, DLRT_COMM_WORLD));
    expect_ok(dlrt_wait(&open, nullptr));
    expect_equal(later, world.previous);
}
