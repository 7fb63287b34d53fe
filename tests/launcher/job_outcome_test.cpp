// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_outcome.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

Cause of_rank(CauseKind kind, std::int64_t value, std::string text = {}) {
    Cause cause = make_cause(kind, value, std::move(text));
    cause.rank = 3;
    cause.host = "node07";
    cause.pid = 4242;
    cause.lifetime_ns = 12'345'678'900;
    return cause;
}

}  // namespace

TEST_CASE("outcome: every cause has its exit status", "[launcher]") {
    using Kind = CauseKind;
    CHECK(exit_status_of(make_cause(Kind::none, 0)) == 0);
    CHECK(exit_status_of(make_cause(Kind::rank_exited, 5)) == 5);
    CHECK(exit_status_of(make_cause(Kind::rank_exited, 255)) == 255);
    CHECK(exit_status_of(make_cause(Kind::rank_killed, 11)) == 139);
    CHECK(exit_status_of(make_cause(Kind::rank_aborted, 42)) == 42);
    CHECK(exit_status_of(make_cause(Kind::rank_aborted, 0)) == 1);
    CHECK(exit_status_of(make_cause(Kind::rank_aborted, 256)) == 1);
    CHECK(exit_status_of(make_cause(Kind::rank_aborted, -1)) == 255);
    CHECK(exit_status_of(make_cause(Kind::host_failed, 127)) == 127);
    CHECK(exit_status_of(make_cause(Kind::timed_out, 5000)) == 124);
    CHECK(exit_status_of(make_cause(Kind::signalled, 2)) == 130);
    CHECK(exit_status_of(make_cause(Kind::signalled, 15)) == 143);
    CHECK(exit_status_of(make_cause(Kind::signalled, 1)) == 129);
    CHECK(exit_status_of(make_cause(Kind::reader_gone, 0)) == 141);
}

TEST_CASE("outcome: one line names rank, host, process, cause and time", "[launcher]") {
    using Kind = CauseKind;
    CHECK(
        describe(of_rank(Kind::rank_exited, 5), {0, 31}) ==
        "rank 3 (node07, pid 4242) exited with 5 after 12.3 s; 31 others terminated"
    );
    CHECK(
        describe(of_rank(Kind::rank_exited, 5), {0, 0}) ==
        "rank 3 (node07, pid 4242) exited with 5 after 12.3 s"
    );
    Cause crash = of_rank(Kind::rank_killed, 11);
    crash.has_dumped_core = true;
    CHECK(
        describe(crash, {0, 1}) ==
        "rank 3 (node07, pid 4242) was killed by signal 11 (segmentation fault, core dumped) "
        "after 12.3 s; 1 other terminated"
    );
    CHECK(
        describe(of_rank(Kind::rank_aborted, 42, "no more"), {0, 2}) ==
        "rank 3 (node07, pid 4242) aborted the job with code 42: no more; 2 others terminated"
    );
    CHECK(
        describe(make_cause(Kind::timed_out, 1500), {0, 4}) ==
        "the job took longer than its --timeout of 1.5 s; 4 ranks terminated"
    );
    CHECK(
        describe(make_cause(Kind::signalled, 2), {0, 1}) ==
        "got signal 2 (interrupt); 1 rank terminated"
    );
    CHECK(describe(make_cause(Kind::host_failed, 127, "host h: x"), {0, 0}) == "host h: x");
    CHECK(describe(make_cause(Kind::reader_gone, 0), {0, 4}).empty());
    CHECK(describe(make_cause(Kind::none, 0), {0, 0}).empty());
    CHECK(
        describe(make_cause(Kind::signalled, 15, "the keeper on h "), {0, 2}) ==
        "the keeper on h got signal 15 (terminated); 2 ranks terminated"
    );
}

TEST_CASE("outcome: repeats are counted, remarks follow the cause", "[launcher]") {
    CHECK(
        describe(of_rank(CauseKind::rank_exited, 7), {1, 0}) ==
        "rank 3 (node07, pid 4242) exited with 7 after 12.3 s; 1 other failed as well"
    );
    Cause killed = of_rank(CauseKind::rank_killed, 9);
    killed.remark = "likely because memory ran out (cgroup /j)";
    CHECK(
        describe(killed, {2, 5}) ==
        "rank 3 (node07, pid 4242) was killed by signal 9 (killed) after 12.3 s, likely because "
        "memory ran out (cgroup /j); 2 others failed as well; 5 others terminated"
    );
}

TEST_CASE("outcome: the end of a process of the launcher has words", "[launcher]") {
    CHECK(describe_end(9) == "it was killed by signal 9 (killed)");
    CHECK(describe_end(3 << 8) == "it exited with 3");
}

TEST_CASE("outcome: what waitpid reports becomes a cause", "[launcher]") {
    CHECK(cause_of_wait_status(0).kind == CauseKind::none);
    const Cause exited = cause_of_wait_status(5 << 8);
    CHECK(exited.kind == CauseKind::rank_exited);
    CHECK(exited.value == 5);
    const Cause killed = cause_of_wait_status(9);
    CHECK(killed.kind == CauseKind::rank_killed);
    CHECK(killed.value == 9);
    CHECK(!killed.has_dumped_core);
    CHECK(cause_of_wait_status(11 | 0x80).has_dumped_core);
}

}  // namespace dlrt::launcher
