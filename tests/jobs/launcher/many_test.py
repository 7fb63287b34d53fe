# SPDX-License-Identifier: Apache-2.0
"""Many ranks, many jobs one after the other and at once, jobs in jobs; limits that are too low.

usage: many_test.py [--all]   Without it fewer of everything.
"""
import os
import resource
import signal
import subprocess
import sys
import time

from launcher_case import DLRUN, LauncherCase, main

IS_FULL = "--all" in sys.argv
NOBODY = 65534


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


class Many(LauncherCase):
    def test_many_short_ranks(self):
        job = self.run_job("-np", 512 if IS_FULL else 100, "true")
        self.assertEqual(job.returncode, 0, job.err)

    def test_many_jobs_in_a_row(self):
        for index in range(200 if IS_FULL else 30):
            job = self.run_job("-np", 4, "true" if index % 2 else "false")
            self.assertEqual(job.returncode, 0 if index % 2 else 1, job.err)

    def test_many_jobs_at_once(self):
        count = 20 if IS_FULL else 8
        jobs = [self.start("-np", 4, "sh", "-c", f"echo {i}; exit {i}") for i in range(count)]
        for index, job in enumerate(jobs):
            self.assertEqual(self.finish(job), index)
            self.assertIn(f"{index}\n", job.out)
        self.assert_nobody_left()

    def test_signals_at_any_time_of_a_start(self):
        delays_ms = range(0, 60) if IS_FULL else (0, 1, 2, 4, 7, 12, 20)
        for delay_ms in delays_ms:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
                job = self.start("-np", 16, "sleep", 300)
                time.sleep(delay_ms / 1000)
                job.send_signal(number)
                self.assertIn(self.finish(job, 15), (128 + number, -number))
                self.assert_nobody_left(within_s=2)

    def test_jobs_within_jobs(self):
        depth = 4 if IS_FULL else 2
        words = ["sh", "-c", "echo $DLRT_RANK of $DLRT_SIZE; exit 5"]
        for _ in range(depth):
            words = [DLRUN, "-np", 2, *words]
        job = self.run_job(*words[1:])
        self.assertEqual(job.returncode, 5, job.err)
        self.assertLessEqual(set(job.out.splitlines()), {"0 of 2", "1 of 2"})

    def test_a_killed_outer_job_takes_the_inner_ones_along(self):
        inner = [DLRUN, "-np", 2, "sh", "-c", "echo in; sleep 300"]
        for role in ("outer head", "dlrund", "dlrt-keeper"):
            job = self.start("-np", 2, *inner)
            self.assertEqual([job.stdout.readline() for _ in range(4)], [b"in\n"] * 4)
            # The oldest is the outer one.
            victim = job.pid if role == "outer head" else min(self.members()[role])
            os.kill(victim, signal.SIGKILL)
            self.finish(job, 20)
            self.assert_nobody_left(within_s=2)

    def test_ranks_have_the_user_s_limit_of_descriptors(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

        def lower():
            resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
        job = self.run_job("-np", 60, "sh", "-c", "ulimit -n", preexec_fn=lower)
        self.assertEqual((job.returncode, job.out), (0, "300\n" * 60))

    def test_too_low_a_limit_is_said_before_anything_starts(self):
        lower = limit(resource.RLIMIT_NOFILE, 64)
        job = self.run_job("-np", 30, "echo", "ran", preexec_fn=lower)
        self.assertLess(job.seconds, 2)
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertIn("the limit is 64", job.err)
        self.assertIn("are needed", job.err)
        job = self.run_job("-np", 2, "sh", "-c", "echo $DLRT_FDS", preexec_fn=lower)
        self.assertEqual(job.out, "60,61,62,63\n" * 2)

    def test_too_few_processes_are_said_before_anything_starts(self):
        def lower():
            resource.setrlimit(resource.RLIMIT_NPROC, (20, 20))
            if os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
        try:
            subprocess.run([DLRUN, "--version"], stdout=subprocess.DEVNULL, preexec_fn=lower,
                           cwd="/", check=True)
        except PermissionError:
            return  # The program lies where no other user may look.
        job = self.run_job("-np", 30, "echo", "ran", preexec_fn=lower, cwd="/")
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertRegex(job.err, r"31 more processes are needed, but .*ulimit -u.* allows 20")

    def test_too_small_files_are_said(self):
        job = self.run_job("-np", 2, "echo", "ran", preexec_fn=limit(resource.RLIMIT_FSIZE, 4096))
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertIn("'ulimit -f'", job.err)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    main()
