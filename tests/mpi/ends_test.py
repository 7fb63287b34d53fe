#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How MPI programs begin and end (ends.c), and what mpiexec makes of it: status, words, and that
nothing is left, neither processes nor files of shared memory.

usage: ends_test.py PROGRAM
"""
import pathlib
import signal
import sys
import unittest

from launcher_case import LauncherCase

PROGRAM = sys.argv.pop(1)
CLASS_OTHER = 16


def shared_files():
    return sorted(path.name for path in pathlib.Path("/dev/shm").glob("*dlrt*"))


class Ends(LauncherCase):
    def check(self, way, status, *words, code="", options=()):
        before = shared_files()
        self.environment["CODE"] = str(code)
        job = self.run_job("--oversubscribe", *options, "-n", "3", PROGRAM, way)
        self.assertEqual(job.returncode, status, (way, job.out, job.err))
        for word in words:
            self.assertIn(word, job.out + job.err, way)
        self.assertEqual(shared_files(), before)
        return job

    def test_code_behind_finalize_runs_and_its_status_arrives(self):
        for way, status in (("right", 0), ("init-thread", 0), ("status-3", 3)):
            # The first status that isn't 0 would end those that haven't said it yet.
            job = self.check(way, status, options=("--on-fail", "wait"))
            self.assertEqual(
                sorted(job.out.splitlines()), [f"rank {i} goes on" for i in range(3)], way
            )

    def test_finalize_may_be_called_at_exit(self):
        job = self.check("at-exit", 3)
        self.assertNotIn("finalizing", job.err)

    def test_calls_at_the_wrong_time_are_named(self):
        self.check("send-before-init", CLASS_OTHER, "MPI_Send: called before MPI_Init")
        self.check("init-twice", CLASS_OTHER, "MPI_Init: MPI is initialised already")
        self.check("init-thread-twice", CLASS_OTHER, "MPI_Init_thread: MPI is initialised")
        self.check("init-after-finalize", CLASS_OTHER, "MPI_Init: called after MPI_Finalize")
        self.check("finalize-twice", CLASS_OTHER, "MPI_Finalize: called after MPI_Finalize")
        self.check("send-after-finalize", CLASS_OTHER, "MPI_Send: called after MPI_Finalize")

    def test_who_leaves_without_finalize_takes_the_job_along(self):
        for way in ("exit-0-awaited", "exit-0-gathered", "exit-0-and-finalized"):
            job = self.check(way, 1)
            self.assertRegex(
                job.err, r"rank 1 \(.*\) exited with 0 after \S+ s without finalizing dlrt, "
                         r"but rank [02] waited for it", way)
        self.check("exit-5", 5, "rank 1")
        self.check("signal", 128 + signal.SIGKILL, "rank 1", "signal 9")

    def test_who_leaves_without_finalize_and_is_not_missed_is_noted(self):
        job = self.check("exit-all", 0)
        self.assertRegex(job.err, r"note: rank \d and 2 others ended without finalizing dlrt\n")

    def test_abort_ends_all_and_loses_no_output(self):
        for way in ("abort", "abort-self", "abort-busy", "abort-stopped", "abort-before-init"):
            self.check(way, 7, "said before", "MPI_Abort", "with code 7", code=7)

    def test_abort_never_looks_like_success(self):
        self.check("abort", 1, "with code 0", code=0)
        self.check("abort", 1, "with code 256", code=256)
        self.check("abort", 2, "with code 258", code=258)
        self.check("abort", 255, "with code -1", code=-1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
