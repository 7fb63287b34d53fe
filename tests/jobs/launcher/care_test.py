# SPDX-License-Identifier: Apache-2.0
"""What dlrun makes of ranks of libdlrt that fail while others wait for them in a collective."""
import os
import signal
import subprocess

from launcher_case import DLRUN, LauncherCase, main, wait_until

RANK = os.environ.get("CARE_RANK", "care_rank")
RUNS = int(os.environ.get("CARE_RUNS", "40"))


class Care(LauncherCase):
    def expect(self, step, who, status, *said, size=4):
        job = self.run_job("-np", size, RANK, step, who)
        self.assertEqual(job.returncode, status, job.err)
        self.assertLess(job.seconds, 10)
        for part in said:
            self.assertIn(part, job.err)
        return job

    def test_exit_without_finalize_keeps_its_status_every_time(self):
        for _ in range(RUNS):
            self.expect("exit", 2, 3, "rank 2 (", "exited with 3", "3 others terminated")

    def test_finalize_in_an_exit_handler(self):
        self.expect("exits", 0, 7, "exited with 7")

    def test_exit_before_init_while_others_are_inside(self):
        self.expect("early", 1, 5, "rank 1 (", "exited with 5")

    def test_crash(self):
        self.expect("crash", 0, 139, "rank 0 (", "segmentation fault", size=2)

    def test_abort(self):
        job = self.expect("abort", 1, 42, "rank 1 (", "aborted the job with code 42: cannot go on",
                          "3 others terminated")
        self.assertEqual(job.err.count("aborted the job with code 42"), 1, job.err)

    def test_one_that_leaves_with_0_makes_the_others_fail_not_hang(self):
        self.expect("leave", 1, 1, "rank 1 (", "without finalizing dlrt, but rank ")

    def test_signals_while_all_wait_in_a_collective(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            job = self.start("-np", 4, RANK, "sleep", 0)
            self.assertEqual([job.stdout.readline() for _ in range(3)], [b"waits\n"] * 3)
            job.send_signal(number)
            self.assertEqual(self.finish(job), status)
            self.assert_nobody_left()

    def test_kill_of_head_daemon_or_keeper_while_all_wait_in_a_collective(self):
        for role in ("dlrun", "dlrund", "dlrt-keeper"):
            job = self.start("-np", 4, RANK, "sleep", 0)
            self.assertEqual([job.stdout.readline() for _ in range(3)], [b"waits\n"] * 3)
            os.kill(self.members()[role][0], signal.SIGKILL)
            self.assertEqual(self.finish(job), -signal.SIGKILL if role == "dlrun" else 125)
            self.assert_nobody_left(within_s=2)

    def test_status_says_what_ranks_wait_in(self):
        job = self.start("-v", "-np", 3, RANK, "sleep", 0)
        first = iter(lambda: job.stderr.readline().decode(), "")
        job_id = next(line for line in first if "job " in line).split("job ")[1].split(":")[0]
        self.assertEqual([job.stdout.readline() for _ in range(2)], [b"waits\n"] * 2)

        def shown():
            status = self.run_status(job_id)
            return status if status.count("barrier") >= 2 else None
        text = wait_until(shown)
        self.assertIn("initialised", text)
        os.kill(self.members()[os.path.basename(RANK)][1], signal.SIGSTOP)
        wait_until(lambda: "stopped" in self.run_status(job_id))
        self.assertGreaterEqual(self.run_status(job_id).count("barrier"), 2)
        job.terminate()
        self.finish(job)
        self.assert_nobody_left()

    def run_status(self, job_id):
        return subprocess.run([DLRUN, "--status", job_id], stdout=subprocess.PIPE, timeout=10,
                              env=self.environment, text=True).stdout


if __name__ == "__main__":
    main()
