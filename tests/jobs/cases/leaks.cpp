// SPDX-License-Identifier: Apache-2.0
/// Case E04: memory does not grow by more than 256 KiB, whatever is done how often; np 2.
/// Argument: what the counts of the case are divided by.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstdlib>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;

/// One kind of work: it is done `warm_up` times, then `count` times under observation.
struct Work {
    const char* name;
    int warm_up;
    int count;
};

template<typename Step>
void expect_no_growth(const Work& work, Step step) {
    constexpr long growth_kib_max = 256;
    for (int i = 0; i < work.warm_up; ++i) step(i);
    barrier();
    const long before_kib = status_kib("VmRSS");
    for (int i = 0; i < work.count; ++i) step(i);
    barrier();
    const long growth_kib = status_kib("VmRSS") - before_kib;
    if (!is_memory_measurable || growth_kib < growth_kib_max) return;
    std::fprintf(stderr, "%s: %ld KiB after %d rounds\n", work.name, growth_kib, work.count);
    expect(false, "memory grows by less than 256 KiB");
}

void persistent_exchange(const World& world, const Work& work, std::size_t size) {
    std::vector<unsigned char> outgoing(size), incoming(size);
    const auto count = static_cast<std::int64_t>(size);
    std::array<dlrt_request, 2> requests{};
    expect_ok(
        dlrt_recv_init(incoming.data(), count, DLRT_BYTE, world.previous, 1, comm, &requests[0])
    );
    expect_ok(dlrt_send_init(outgoing.data(), count, DLRT_BYTE, world.next, 1, comm, &requests[1]));
    expect_no_growth(work, [&](int round) {
        outgoing[0] = static_cast<unsigned char>(round);
        outgoing[size - 1] = static_cast<unsigned char>(round + 1);
        expect_ok(dlrt_startall(2, requests.data()));
        expect_ok(dlrt_waitall(2, requests.data(), nullptr));
        expect_equal<int>(incoming[0], outgoing[0]);
        expect_equal<int>(incoming[size - 1], outgoing[size - 1]);
    });
    for (dlrt_request& request : requests) expect_ok(dlrt_request_free(&request));
}

void sums(const World& world, const Work& work, std::size_t size) {
    std::vector<double> mine(size, world.rank + 1.0), all(size);
    expect_no_growth(work, [&](int) {
        expect_ok(dlrt_allreduce(
            mine.data(), all.data(), static_cast<std::int64_t>(size), DLRT_DOUBLE, DLRT_SUM, comm
        ));
        expect(all[size - 1] == 3.0, "1 + 2");
    });
}

void types(const Work& work) {
    const std::array<std::int64_t, 3> lengths{1, 2, 3}, offsets{0, 16, 64};
    const std::array<dlrt_type, 3> parts{DLRT_INT, DLRT_DOUBLE, DLRT_CHAR};
    expect_no_growth(work, [&](int) {
        dlrt_type vector{}, whole{}, resized{};
        expect_ok(dlrt_type_vector(5, 2, 3, DLRT_INT, &vector));
        expect_ok(dlrt_type_struct(3, lengths.data(), offsets.data(), parts.data(), &whole));
        expect_ok(dlrt_type_resized(whole, 0, 128, &resized));
        for (dlrt_type* type : {&vector, &whole, &resized}) expect_ok(dlrt_type_free(type));
    });
}

void persistent_requests(const World& world, const Work& work) {
    std::array<unsigned char, 100> bytes{};
    expect_no_growth(work, [&](int) {
        dlrt_request receive{}, send{};
        expect_ok(dlrt_recv_init(bytes.data(), 100, DLRT_BYTE, world.next, 1, comm, &receive));
        expect_ok(dlrt_send_init(bytes.data(), 100, DLRT_BYTE, world.next, 1, comm, &send));
        expect_ok(dlrt_request_free(&receive));
        expect_ok(dlrt_request_free(&send));
    });
}

void errors(const World& world, const Work& work) {
    int value = 0;
    expect_no_growth(work, [&](int) {
        dlrt_request request{};
        expect_error(dlrt_send(&value, 1, DLRT_INT, world.size, 1, comm), DLRT_ERR_RANK);
        expect_error(dlrt_irecv(&value, 1, DLRT_INT, world.size, 1, comm, &request), DLRT_ERR_RANK);
        expect_error(dlrt_bcast(&value, 1, DLRT_INT, -5, comm), DLRT_ERR_ROOT);
    });
}

}  // namespace

int main(int argc, char** argv) {
    const int divisor = argc > 1 ? std::atoi(argv[1]) : 1;
    const World world;
    expect_equal(world.size, 2);
    constexpr int warm_up = 1000;
    const auto part = [&](int count) { return count / divisor; };
    persistent_exchange(world, {"5000 B", warm_up, part(300'000)}, 5000);
    persistent_exchange(world, {"1 MiB", warm_up / divisor + 1, part(2000)}, 1 << 20);
    sums(world, {"1 double", warm_up, part(100'000)}, 1);
    sums(world, {"1000 doubles", warm_up, part(100'000)}, 1000);
    types({"types", warm_up, part(100'000)});
    persistent_requests(world, {"requests", warm_up, part(100'000)});
    errors(world, {"errors", warm_up, part(100'000)});
}
