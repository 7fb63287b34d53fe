// SPDX-License-Identifier: Apache-2.0
/// A rank that forks between its messages: the child is refused everything, and however it ends,
/// its parent goes on undisturbed.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;
constexpr std::int64_t large_count = 1 << 20;

bool is_refused_everything(dlrt_request open) {
    std::array<dlrt_err, 9> answers{};
    int value = 0;
    std::int32_t size = -1;
    dlrt_comm copy{};
    dlrt_request request = open;
    answers[0] = dlrt_send(&value, 1, DLRT_INT, 0, 1, comm);
    answers[1] = dlrt_recv(&value, 1, DLRT_INT, 0, 1, comm, nullptr);
    answers[2] = dlrt_wait(&request, nullptr);
    answers[3] = dlrt_comm_size(comm, &size);
    answers[4] = dlrt_comm_dup(comm, &copy);
    answers[5] = dlrt_allreduce(DLRT_IN_PLACE, &value, 1, DLRT_INT, DLRT_SUM, comm);
    answers[6] = dlrt_cancel(open);
    answers[7] = dlrt_init();
    answers[8] = dlrt_finalize();
    for (const dlrt_err answer : answers) {
        if (answer != DLRT_ERR_FORKED) return false;
    }
    return dlrt_initialized() == 0 && size == -1;
}

enum class End { exit, quick_exit, kill, program };
constexpr std::array ends{End::exit, End::quick_exit, End::kill, End::program};

[[noreturn]] void end_child(End end, bool is_right) {
    if (!is_right) _exit(1);
    if (end == End::exit) std::exit(0);
    if (end == End::kill) std::raise(SIGKILL);
    if (end == End::program) execlp("true", "true", nullptr);
    _exit(end == End::quick_exit ? 0 : 1);
}

void fork_with_open_messages(const World& world, End end, int round) {
    std::vector<int> outgoing(large_count, round + world.rank), incoming(large_count, -1);
    std::array<dlrt_request, 2> requests{};
    expect_ok(dlrt_irecv(
        incoming.data(), large_count, DLRT_INT, world.previous, round, comm, &requests[0]
    ));
    expect_ok(
        dlrt_isend(outgoing.data(), large_count, DLRT_INT, world.next, round, comm, &requests[1])
    );
    const pid_t child = fork();
    expect(child >= 0, "fork");
    if (child == 0) end_child(end, is_refused_everything(requests[0]));
    expect_ok(dlrt_waitall(2, requests.data(), nullptr));
    for (const int value : incoming) {
        if (value != round + world.previous) expect(false, "the neighbour's value");
    }
    int status = 0;
    expect_equal(waitpid(child, &status, 0), child);
    if (end == End::kill) {
        expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "killed");
    } else {
        expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child was refused everything");
    }
    barrier();
}

}  // namespace

int main() {
    const World world;
    constexpr int round_count = 12;
    for (int round = 0; round < round_count; ++round) {
        fork_with_open_messages(world, ends[static_cast<std::size_t>(round) % ends.size()], round);
    }
}
