// SPDX-License-Identifier: Apache-2.0
/// What is refused before init, after finalize and in a forked child; abort with "abort".
#include "tests/jobs/api/job.hpp"

#include <sys/wait.h>
#include <unistd.h>

using namespace job;

namespace {

dlrt_err probe_api() {
    std::int32_t rank = -7;
    const dlrt_err outcome = dlrt_comm_rank(DLRT_COMM_WORLD, &rank);
    if (outcome != DLRT_OK) expect_equal(rank, -7);
    return outcome;
}

void in_a_child() {
    const pid_t child = fork();
    if (child == 0) {
        const bool is_refused = probe_api() == DLRT_ERR_FORKED && dlrt_initialized() == 0 &&
                                dlrt_barrier(DLRT_COMM_WORLD) == DLRT_ERR_FORKED &&
                                dlrt_finalize() == DLRT_ERR_FORKED;
        // Leaves through exit handlers and destructors, which must do nothing.
        std::exit(is_refused ? 0 : 1);
    }
    int status = 0;
    expect_equal(waitpid(child, &status, 0), child);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child is refused");
    barrier();
}

}  // namespace

int main(int argc, char** argv) {
    expect_error(probe_api(), DLRT_ERR_NOT_INITIALIZED);
    expect_error(dlrt_finalize(), DLRT_ERR_NOT_INITIALIZED);
    expect_equal(dlrt_initialized(), 0);
    {
        const World world;
        expect_equal(dlrt_initialized(), 1);
        expect_error(dlrt_init(), DLRT_ERR_ALREADY_INITIALIZED);
        dlrt_thread_level level = DLRT_THREAD_MULTIPLE;
        expect_error(dlrt_init_thread(DLRT_THREAD_SINGLE, &level), DLRT_ERR_ALREADY_INITIALIZED);
        expect_ok(dlrt_query_thread(&level));
        in_a_child();
        if (argc > 1 && std::string(argv[1]) == "abort") {
            if (world.rank == world.size - 1) dlrt_abort(42, "on purpose");
            // Ended by the other rank.
            barrier();
            barrier();
        }
    }
    expect_error(probe_api(), DLRT_ERR_NOT_INITIALIZED);
    expect_error(dlrt_finalize(), DLRT_ERR_NOT_INITIALIZED);
    expect_equal(dlrt_initialized(), 0);
    expect_equal(dlrt_finalized(), 1);
}
