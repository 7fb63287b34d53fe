# SPDX-License-Identifier: Apache-2.0
"""--on-fail, --timeout, --start-timeout, --signal: what ends a job and what not, its status."""
import os
import signal

from launcher_case import main, state_of, wait_until
from phase_case import RANKS, PhaseCase

# Rank 1 fails at once with 3, rank 2 then with 4, the others take part until the end.
SCRIPT = """
case $DLRT_RANK in
1) exit 3 ;;
2) while kill -0 $(cat pid.1) 2>/dev/null; do sleep 0.02; done; exit 4 ;;
*) sleep 0.5; echo done ;;
esac
"""


class FailureOptions(PhaseCase):
    def run_failing(self, *words):
        folder = os.path.dirname(self.fifos["go"])
        script = f"cd {folder}; echo $$ > pid.$DLRT_RANK; sleep 0.2" + SCRIPT
        return self.run_job("-np", 4, *words, "sh", "-c", script)

    def test_kill_is_the_rule(self):
        for words in ((), ("--on-fail", "kill")):
            job = self.run_failing(*words)
            self.assertEqual((job.returncode, job.out), (3, ""), job.err)
            self.assertIn("rank 1 (", job.err)

    def test_with_wait_the_others_go_on_and_the_first_failure_counts(self):
        job = self.run_failing("--on-fail", "wait")
        self.assertEqual((job.returncode, job.out), (3, "done\ndone\n"), job.err)
        self.assertEqual(len(self.own_lines(job)), 1, job.err)
        self.assertRegex(job.err, "rank 1 .* exited with 3 .*; 1 other failed as well")
        self.assertNotIn("terminated", job.err)

    def test_with_ignore_failures_of_ranks_are_said_but_do_not_count(self):
        job = self.run_failing("--on-fail", "ignore")
        self.assertEqual((job.returncode, job.out), (0, "done\ndone\n"), job.err)
        self.assertRegex(job.err, "rank 1 .* exited with 3 .*; 1 other failed as well")
        job = self.run_failing("--on-fail", "ignore", "--timeout", "0.4")
        self.assertEqual(job.returncode, 124, job.err)
        job = self.run_job("-np", 2, "--on-fail", "ignore", "no-such-program")
        self.assertEqual(job.returncode, 127, job.err)

    def test_with_wait_who_waits_for_a_failed_rank_is_told(self):
        job, pids = self.start_phase("collective", 60, "--on-fail", "wait")
        os.kill(pids[0], signal.SIGKILL)
        self.assertEqual(self.finish(job), 137, job.err)
        self.assertRegex(self.own_lines(job)[0], "rank 0 .*; 3 others failed as well")

    def test_a_start_that_takes_too_long_ends_the_job(self):
        self.environment["DLRT_TEST_START_GATE"] = self.fifos["gate"]
        job = self.run_job("-np", RANKS, "--start-timeout", "0.4", "sleep", 300)
        self.assertEqual(job.returncode, 125)
        self.assertIn("--start-timeout of 0.4 s", job.err)
        self.assertLess(job.seconds, 8)

    def test_a_start_timeout_is_over_once_all_run(self):
        job = self.run_job("-np", 2, "--start-timeout", "0.4", "sleep", 1)
        self.assertEqual((job.returncode, self.own_lines(job)), (0, []))

    def test_a_signal_comes_before_the_timeout(self):
        script = "trap 'echo warned' USR1; echo ready; while :; do sleep 0.05; done"
        job = self.run_job("-np", 2, "--timeout", 1.5, "--signal", "USR1@1", "sh", "-c", script)
        self.assertEqual(job.returncode, 124, job.err)
        self.assertEqual(job.out.count("warned"), 2, job.out)

    def test_a_crash_shows_the_last_calls(self):
        job, pids = self.start_phase("collective")
        # The barrier is entered after the word.
        wait_until(lambda: state_of(pids[2]) == "S")
        os.kill(pids[2], signal.SIGSEGV)
        self.assertEqual(self.finish(job), 139, job.err)
        lines = self.own_lines(job)
        self.assertRegex(lines[0], r"rank 2 \(.*segmentation fault")
        self.assertRegex(lines[1], "last calls of rank 2, oldest first:")
        self.assertRegex(lines[2], "init #0")
        self.assertRegex(lines[-1], "barrier #1")

    def test_repeats_are_counted_and_not_printed(self):
        job = self.run_job("-np", 20, "sh", "-c", "sleep 0.3; exit 7")
        self.assertEqual(job.returncode, 7)
        self.assertEqual(len(self.own_lines(job)), 1, job.err)


if __name__ == "__main__":
    main()
