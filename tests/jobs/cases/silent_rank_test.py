# SPDX-License-Identifier: Apache-2.0
"""Ranks that never call dlrt: they run as they would alone, and who waits for one is told.

usage: silent_rank_test.py PROGRAM (finalize.cpp: one that joins and leaves)
"""
import sys
import unittest

from launcher_case import LauncherCase

PROGRAM = sys.argv[1]


class SilentRank(LauncherCase):
    def test_shell(self):
        job = self.run_job("-np", 2, "bash", "-c", "echo $DLRT_RANK of $DLRT_SIZE")
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertEqual(sorted(job.out.splitlines()), ["0 of 2", "1 of 2"])

    def test_python(self):
        line = "import os, time; time.sleep(0.2); print(os.environ['RANK'])"
        job = self.run_job("-np", 2, sys.executable, "-c", line)
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertEqual(sorted(job.out.splitlines()), ["0", "1"])

    def test_program_below_a_shell(self):
        job = self.run_job("-np", 2, "bash", "-c", f"'{PROGRAM}' at_exit; exit $?")
        self.assertEqual((job.returncode, job.err), (0, ""))

    def test_beside_a_rank_that_joins(self):
        job = self.run_job("-np", 1, PROGRAM, "at_exit", ":", "-np", 1, "bash", "-c", "exit 0")
        self.assertEqual(job.returncode, 1)
        self.assertIn("ERR_PEER_LOST", job.err)
        self.assertLess(job.seconds, 5)

    def test_failure_beside_a_rank_that_joins(self):
        job = self.run_job("-np", 1, PROGRAM, "at_exit", ":", "-np", 1, "bash", "-c", "exit 9")
        self.assertEqual(job.returncode, 9)
        self.assertLess(job.seconds, 5)
        self.assertIn("rank 1", job.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
