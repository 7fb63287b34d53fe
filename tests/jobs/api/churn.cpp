// SPDX-License-Identifier: Apache-2.0
/// Communicators and groups made and freed many times: memory and descriptors don't grow.
#include "tests/jobs/api/job.hpp"

#include <cstdlib>
#include <filesystem>

using namespace job;

namespace {

long entries_of(const char* folder) {
    const std::filesystem::directory_iterator begin(folder);
    return std::distance(begin, std::filesystem::directory_iterator{});
}

void one_round(const World& world, int round) {
    dlrt_comm copy{}, part{};
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &copy));
    expect_ok(dlrt_comm_split(copy, world.rank % 2, 0, &part));
    dlrt_group group{};
    expect_ok(dlrt_comm_group(part, &group));
    expect_ok(dlrt_group_free(&group));
    dlrt_request request{};
    int incoming = -1;
    if (round % 1000 == 0) {
        const int one = 1;
        int total = 0;
        expect_ok(dlrt_allreduce(&one, &total, 1, DLRT_INT, DLRT_SUM, copy));
        expect_equal(total, world.size);
        // Still open when its communicator goes.
        expect_ok(dlrt_irecv(&incoming, 1, DLRT_INT, world.previous, 1, copy, &request));
        expect_ok(dlrt_send(&round, 1, DLRT_INT, world.next, 1, copy));
    }
    expect_ok(dlrt_comm_free(&part));
    expect_ok(dlrt_comm_free(&copy));
    expect_ok(dlrt_wait(&request, nullptr));
    if (round % 1000 == 0) expect_equal(incoming, round);
}

}  // namespace

int main(int argc, char** argv) {
    const int round_count = argc > 1 ? std::atoi(argv[1]) : 5000;
    const World world;
    long memory_kib = 0, descriptor_count = 0, file_count = 0;
    for (int round = 0; round < round_count; ++round) {
        one_round(world, round);
        if (round != 1000) continue;
        barrier();
        memory_kib = status_kib("VmRSS");
        descriptor_count = entries_of("/proc/self/fd");
        file_count = entries_of("/dev/shm");
    }
    barrier();
    if (is_memory_measurable) {
        expect(status_kib("VmRSS") - memory_kib < 1024, "memory grows by less than 1 MiB");
    }
    // The doorbell of a neighbour comes when that one sleeps for the first time.
    expect(
        entries_of("/proc/self/fd") - descriptor_count < world.size,
        "no descriptor is left by a communicator"
    );
    expect_equal(entries_of("/dev/shm"), file_count);
}
