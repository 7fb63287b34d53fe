// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_verdict.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

enum class Told : std::uint8_t { no, yes };

RankEnded end_of(std::uint32_t rank, int wait_status, Told told = Told::no) {
    RankEnded end;
    end.rank = rank;
    end.pid = 100 + static_cast<std::int32_t>(rank);
    end.wait_status = wait_status;
    end.lifetime_ns = 2'000'000'000;
    end.was_told_to_end = told == Told::yes;
    return end;
}

JobVerdict running(OnFailure on_failure, std::uint32_t rank_count) {
    JobVerdict verdict(on_failure);
    verdict.set_rank_count(rank_count);
    verdict.note_all_started();
    return verdict;
}

using Lines = std::vector<std::string>;
constexpr int exit_3 = 3 << 8;
constexpr int exit_4 = 4 << 8;

}  // namespace

TEST_CASE(
    "verdict: the first failure in time counts, those told to end are counted", "[launcher]"
) {
    JobVerdict verdict = running(OnFailure::kill, 5);
    CHECK(!verdict.take_rank_end(end_of(0, 0), "h"));
    CHECK(!verdict.is_failed());
    CHECK(verdict.take_rank_end(end_of(2, exit_3), "h"));
    CHECK(!verdict.take_rank_end(end_of(1, exit_4), "h"));
    CHECK(!verdict.take_rank_end(end_of(3, 15, Told::yes), "h"));
    CHECK(!verdict.have_all_ended());
    CHECK(!verdict.take_rank_end(end_of(4, exit_4, Told::yes), "h"));
    CHECK(verdict.have_all_ended());
    CHECK(verdict.exit_status() == 3);
    CHECK(
        verdict.lines() ==
        Lines{"rank 2 (h, pid 102) exited with 3 after 2.0 s; 1 other failed as well; 2 others "
              "terminated"}
    );
}

TEST_CASE("verdict: who ends well by itself after a failure was not terminated", "[launcher]") {
    JobVerdict verdict = running(OnFailure::kill, 2);
    verdict.take_rank_end(end_of(1, exit_3), "h");
    verdict.take_rank_end(end_of(0, 0), "h");
    CHECK(verdict.lines() == Lines{"rank 1 (h, pid 101) exited with 3 after 2.0 s"});
}

TEST_CASE("verdict: failures after an abort are its consequences", "[launcher]") {
    JobVerdict verdict = running(OnFailure::kill, 3);
    Cause abort = make_cause(CauseKind::rank_aborted, 42, "no more");
    abort.host = "h";
    verdict.set_cause(abort);
    verdict.take_rank_end(end_of(1, exit_3), "h");
    verdict.take_rank_end(end_of(2, exit_3, Told::yes), "h");
    CHECK(verdict.exit_status() == 42);
    CHECK(
        verdict.lines() ==
        Lines{"rank 0 (h, pid 0) aborted the job with code 42: no more; 2 others terminated"}
    );
}

TEST_CASE("verdict: with wait the others go on and the first failure is the status", "[launcher]") {
    JobVerdict verdict = running(OnFailure::wait, 3);
    CHECK(!verdict.take_rank_end(end_of(2, exit_3), "h"));
    CHECK(!verdict.take_rank_end(end_of(1, exit_4), "h"));
    CHECK(!verdict.take_rank_end(end_of(0, 0), "h"));
    CHECK(verdict.is_failed());
    CHECK(verdict.exit_status() == 3);
    CHECK(
        verdict.lines() ==
        Lines{"rank 2 (h, pid 102) exited with 3 after 2.0 s; 1 other failed as well"}
    );
}

TEST_CASE("verdict: with wait the end of the others is said too", "[launcher]") {
    JobVerdict verdict = running(OnFailure::wait, 3);
    verdict.take_rank_end(end_of(2, exit_3), "h");
    verdict.set_cause(make_cause(CauseKind::timed_out, 1500));
    verdict.take_rank_end(end_of(0, 15, Told::yes), "h");
    verdict.take_rank_end(end_of(1, 15, Told::yes), "h");
    CHECK(verdict.exit_status() == 3);
    CHECK(
        verdict.lines() ==
        Lines{
            "rank 2 (h, pid 102) exited with 3 after 2.0 s",
            "the job took longer than its --timeout of 1.5 s; 2 ranks terminated"}
    );
}

TEST_CASE("verdict: with ignore only what is no rank's failure counts", "[launcher]") {
    JobVerdict verdict = running(OnFailure::ignore, 2);
    verdict.take_rank_end(end_of(1, exit_3), "h");
    CHECK(verdict.exit_status() == 0);
    CHECK(verdict.lines() == Lines{"rank 1 (h, pid 101) exited with 3 after 2.0 s"});
    verdict.set_cause(make_cause(CauseKind::timed_out, 1500));
    CHECK(verdict.exit_status() == 124);
}

TEST_CASE("verdict: the last calls of the first that failed are shown", "[launcher]") {
    JobVerdict verdict = running(OnFailure::kill, 2);
    RankEnded crash = end_of(1, 11);
    crash.last_calls = {"recv #4: done", "barrier #5: waiting for 2.0 s"};
    verdict.take_rank_end(crash, "h");
    RankEnded other = end_of(0, 11);
    other.last_calls = {"send #1: done"};
    verdict.take_rank_end(other, "h");
    CHECK(
        verdict.lines() ==
        Lines{
            "rank 1 (h, pid 101) was killed by signal 11 (segmentation fault) after 2.0 s; 1 other "
            "failed as well",
            "last calls of rank 1, oldest first:", "  recv #4: done",
            "  barrier #5: waiting for 2.0 s"}
    );
}

TEST_CASE("verdict: who leaves without finalizing is a note", "[launcher]") {
    JobVerdict verdict = running(OnFailure::kill, 3);
    for (const std::uint32_t rank : {1u, 0u, 2u}) {
        RankEnded end = end_of(rank, 0);
        end.is_unfinalized = rank != 2;
        verdict.take_rank_end(end, "h");
    }
    CHECK(verdict.exit_status() == 0);
    CHECK(verdict.lines() == Lines{"note: rank 1 and 1 other ended without finalizing dlrt"});
}

TEST_CASE("verdict: who leaves without finalizing while another waits has failed", "[launcher]") {
    const OnFailure on_failure = GENERATE(OnFailure::kill, OnFailure::wait);
    JobVerdict verdict = running(on_failure, 3);
    RankEnded leaver = end_of(1, 0);
    leaver.is_unfinalized = true;
    CHECK(!verdict.take_rank_end(leaver, "h"));
    CHECK(!verdict.take_missed({.rank = 2, .waiting_rank = 0}));
    CHECK(verdict.take_missed({.rank = 1, .waiting_rank = 0}) == (on_failure == OnFailure::kill));
    CHECK(!verdict.take_rank_end(end_of(0, exit_3), "h"));
    CHECK(verdict.exit_status() == 1);
    CHECK(verdict.is_failed());
    const std::string last = on_failure == OnFailure::kill ? "; 1 other terminated" : "";
    CHECK(
        verdict.lines() ==
        Lines{
            "rank 1 (h, pid 101) exited with 0 after 2.0 s without finalizing dlrt, but rank 0 "
            "waited for it; 1 other failed as well" +
            last}
    );
}

TEST_CASE("verdict: who failed is not blamed for leaving as well", "[launcher]") {
    JobVerdict verdict = running(OnFailure::ignore, 2);
    RankEnded leaver = end_of(1, exit_3);
    leaver.is_unfinalized = true;
    CHECK(!verdict.take_rank_end(leaver, "h"));
    CHECK(!verdict.take_missed({.rank = 1, .waiting_rank = 0}));
    CHECK(verdict.lines() == Lines{"rank 1 (h, pid 101) exited with 3 after 2.0 s"});
}

TEST_CASE("verdict: a signal before all have started terminates nobody known", "[launcher]") {
    JobVerdict verdict(OnFailure::kill);
    verdict.set_rank_count(4);
    verdict.set_cause(make_cause(CauseKind::signalled, 15));
    CHECK(verdict.exit_status() == 143);
    CHECK(verdict.lines() == Lines{"got signal 15 (terminated)"});
}

TEST_CASE("verdict: of a host that could not start its ranks none is terminated", "[launcher]") {
    JobVerdict verdict(OnFailure::kill);
    verdict.set_rank_count(4);
    verdict.set_cause(make_cause(CauseKind::host_failed, 127, "host h: x"));
    CHECK(verdict.exit_status() == 127);
    CHECK(verdict.lines() == Lines{"host h: x"});
}

}  // namespace dlrt::launcher
