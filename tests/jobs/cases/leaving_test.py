# SPDX-License-Identifier: Apache-2.0
"""A rank that finds a disagreement and leaves at once.

usage: leaving_test.py PROGRAM (leaving.cpp)
"""
import sys
import unittest

from launcher_case import LauncherCase

PROGRAM = sys.argv[1]


class Leaving(LauncherCase):
    def test_all_are_told_of_the_cause(self):
        job = self.run_job("-np", 2, PROGRAM)
        self.assertEqual(job.out, "told\n", job.err)
        # Somebody has waited for rank 1, which had gone without finalizing.
        self.assertEqual(job.returncode, 1, job.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
