// SPDX-License-Identifier: Apache-2.0
/// A rank that finds a disagreement and is gone at once hides the cause from nobody. 2 ranks: 0
/// has begun an all-reduce, 1 waits for a broadcast of 0, finds the other's message and goes, and
/// 0 waits for its operation when 1 has gone. leaving_test.py says what dlrun makes of it.
#include "tests/jobs/api/job.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace job;

namespace {

void begin_and_be_left() {
    const int input = 1;
    int output = 0, pid = 0;
    dlrt_request request{};
    expect_ok(dlrt_iallreduce(&input, &output, 1, DLRT_INT, DLRT_SUM, DLRT_COMM_WORLD, &request));
    expect_ok(dlrt_recv(&pid, 1, DLRT_INT, 1, 1, DLRT_COMM_WORLD, nullptr));
    // Not by dlrt, which would hear of the disagreement meanwhile. It learns of the end soon after.
    while (::kill(pid, 0) == 0 || errno != ESRCH) ::usleep(1000);
    ::usleep(50'000);
    expect_error(dlrt_wait(&request, nullptr), DLRT_ERR_MISMATCH);
    const char* const text = dlrt_last_error();
    const bool is_told = std::strstr(text, "rank 1 calls nonblocking bcast") != nullptr;
    if (!is_told) std::fprintf(stderr, "%s\n", text);
    expect(is_told, "the cause is told");
    std::printf("told\n");
    ::fflush(stdout);
}

void find_and_leave() {
    int value = 0;
    const int pid = ::getpid();
    expect_ok(dlrt_send(&pid, 1, DLRT_INT, 0, 1, DLRT_COMM_WORLD));
    dlrt_request request{};
    expect_ok(dlrt_ibcast(&value, 1, DLRT_INT, 0, DLRT_COMM_WORLD, &request));
    expect_error(dlrt_wait(&request, nullptr), DLRT_ERR_MISMATCH);
}

}  // namespace

int main() {
    const World world;
    if (world.rank == 0) begin_and_be_left();
    if (world.rank == 1) find_and_leave();
    ::_exit(0);
}
